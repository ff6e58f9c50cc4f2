/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Doubly linked lists: rings of links inside what is listed, through a head. An instance runs on one thread. */
#ifndef __DUMBBELL_LIST_H__
#define __DUMBBELL_LIST_H__

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(head)	{ &(head), &(head) }
#define LIST_HEAD(head)		struct list_head head = LIST_HEAD_INIT(head)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline void __db_list_join(struct list_head *before, struct list_head *after)
{
	before->next = after;
	after->prev = before;
}

static inline void __db_list_insert(struct list_head *link, struct list_head *before,
				    struct list_head *after)
{
	__db_list_join(before, link);
	__db_list_join(link, after);
}

static inline void list_add(struct list_head *link, struct list_head *head)
{
	__db_list_insert(link, head, head->next);
}

static inline void list_add_tail(struct list_head *link, struct list_head *head)
{
	__db_list_insert(link, head->prev, head);
}

/* Its links are then of no use, as in the kernel. */
static inline void list_del(struct list_head *link)
{
	__db_list_join(link->prev, link->next);
	link->next = (struct list_head *)0;
	link->prev = (struct list_head *)0;
}

static inline void list_del_init(struct list_head *link)
{
	__db_list_join(link->prev, link->next);
	INIT_LIST_HEAD(link);
}

static inline void list_replace(struct list_head *old, struct list_head *link)
{
	__db_list_insert(link, old->prev, old->next);
}

static inline void list_replace_init(struct list_head *old, struct list_head *link)
{
	list_replace(old, link);
	INIT_LIST_HEAD(old);
}

static inline void list_move(struct list_head *link, struct list_head *head)
{
	__db_list_join(link->prev, link->next);
	list_add(link, head);
}

static inline void list_move_tail(struct list_head *link, struct list_head *head)
{
	__db_list_join(link->prev, link->next);
	list_add_tail(link, head);
}

static inline int list_is_head(const struct list_head *link, const struct list_head *head)
{
	return link == head;
}

static inline int list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline int list_is_first(const struct list_head *link, const struct list_head *head)
{
	return link->prev == head;
}

static inline int list_is_last(const struct list_head *link, const struct list_head *head)
{
	return link->next == head;
}

static inline int list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline void list_rotate_left(struct list_head *head)
{
	if (!list_empty(head))
		list_move_tail(head->next, head);
}

static inline void list_splice(struct list_head *list, struct list_head *head)
{
	struct list_head *after = head->next;

	if (list_empty(list))
		return;
	__db_list_join(head, list->next);
	__db_list_join(list->prev, after);
}

static inline void list_splice_tail(struct list_head *list, struct list_head *head)
{
	list_splice(list, head->prev);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice(list, head);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail(list, head);
	INIT_LIST_HEAD(list);
}

#define list_add_rcu(link, head)	list_add(link, head)
#define list_add_tail_rcu(link, head)	list_add_tail(link, head)
#define list_del_rcu(link)		list_del(link)

#define list_entry(link, type, member)		container_of(link, type, member)
#define list_first_entry(head, type, member)	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)	list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? (type *)0 : list_first_entry(head, type, member))
#define list_last_entry_or_null(head, type, member) \
	(list_empty(head) ? (type *)0 : list_last_entry(head, type, member))
#define list_next_entry(at, member)	list_entry((at)->member.next, __typeof__(*(at)), member)
#define list_prev_entry(at, member)	list_entry((at)->member.prev, __typeof__(*(at)), member)
#define list_entry_is_head(at, head, member)	(&(at)->member == (head))

#define list_for_each(at, head) \
	for (at = (head)->next; at != (head); at = at->next)
#define list_for_each_prev(at, head) \
	for (at = (head)->prev; at != (head); at = at->prev)
#define list_for_each_safe(at, after, head) \
	for (at = (head)->next, after = at->next; at != (head); at = after, after = at->next)

#define list_for_each_entry(at, head, member)				\
	for (at = list_first_entry(head, __typeof__(*at), member);	\
	     !list_entry_is_head(at, head, member);			\
	     at = list_next_entry(at, member))
#define list_for_each_entry_reverse(at, head, member)			\
	for (at = list_last_entry(head, __typeof__(*at), member);	\
	     !list_entry_is_head(at, head, member);			\
	     at = list_prev_entry(at, member))
#define list_for_each_entry_safe(at, after, head, member)		\
	for (at = list_first_entry(head, __typeof__(*at), member),	\
	     after = list_next_entry(at, member);			\
	     !list_entry_is_head(at, head, member);			\
	     at = after, after = list_next_entry(after, member))
#define list_for_each_entry_safe_reverse(at, after, head, member)	\
	for (at = list_last_entry(head, __typeof__(*at), member),	\
	     after = list_prev_entry(at, member);			\
	     !list_entry_is_head(at, head, member);			\
	     at = after, after = list_prev_entry(after, member))
#define list_for_each_entry_continue(at, head, member)			\
	for (at = list_next_entry(at, member);				\
	     !list_entry_is_head(at, head, member);			\
	     at = list_next_entry(at, member))
#define list_for_each_entry_from(at, head, member)			\
	for (; !list_entry_is_head(at, head, member);			\
	     at = list_next_entry(at, member))
#define list_for_each_entry_rcu(at, head, member, condition...)		\
	list_for_each_entry(at, head, member)

#endif /* __DUMBBELL_LIST_H__ */
