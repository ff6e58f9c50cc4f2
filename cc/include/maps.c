// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Maps for the native build, linked into every instance: arrays and hashes, and state kept per
 * socket. A map's address in the instance is its name; its sizes come with every call
 * (bpf/bpf_helpers.h). All of it lives in a pool of the instance's own, so that instances share
 * nothing; untouched memory of the pool is never allocated.
 *
 * Semantics: those of the kernel's maps (Documentation/bpf/map_array.rst,
 * map_hash.rst, map_sk_storage.rst) without per-CPU copies, since an instance
 * runs on one thread.
 */
#include <errno.h>
#include "vmlinux.h"
#include "bpf/bpf_helpers.h"
#include "bpf_tracing_net.h"

#define POOL_BYTES	(64UL << 20)
#define BUCKETS		1024U	/* a power of two */

/*
 * Bytes of the value for which the flow itself has room, STORAGE() of dumbbell.h: padded to a word,
 * followed by a word that tells whether the map has it. It belongs to the first map that uses a
 * value of this size; further maps of the same size have elements like any other.
 */
u64 dumbbell_storage_bytes;
static const void *flows_map;

static u8 pool[POOL_BYTES] __attribute__((aligned(16)));
static u64 pool_used_bytes;

/* One element of any map. Key and value follow it, each on a multiple of eight bytes. */
struct element {
	struct element	*next;		/* in its bucket, or among the free ones */
	const void	*map;
	u32		key_bytes;
	u32		value_bytes;
	u64		cookie;		/* of the socket whose state it is; 0: an element of a hash */
};

/* A map that has been used. */
struct map_state {
	struct map_state *next;
	const void	*map;
	u32		entries;
	u8		*array;		/* of BPF_MAP_TYPE_ARRAY, all zero at first */
};

static struct element *buckets[BUCKETS];
static struct element *free_elements;
static struct map_state *maps;

static u64 padded(u64 bytes)
{
	return (bytes + 7) & ~7ULL;
}

static void *allocate(u64 bytes)
{
	void *at = pool + pool_used_bytes;

	bytes = padded(bytes);
	if (bytes > POOL_BYTES - pool_used_bytes)
		return NULL;
	pool_used_bytes += bytes;
	return at;
}

static u8 *key_of(struct element *e)
{
	return (u8 *)(e + 1);
}

static u8 *value_of(struct element *e)
{
	return key_of(e) + padded(e->key_bytes);
}

static void copy(u8 *to, const u8 *from, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		((volatile u8 *)to)[i] = from ? from[i] : 0;
}

static bool same(const u8 *a, const u8 *b, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* FNV-1a over the map's place in the instance and the key; no order depends on it. */
static struct element **bucket(const void *map, const u8 *key, u32 key_bytes)
{
	u64 hash = 0xcbf29ce484222325ULL ^ (u64)((const u8 *)map - pool);
	u32 i;

	for (i = 0; i < key_bytes; i++)
		hash = (hash ^ key[i]) * 0x100000001b3ULL;
	return &buckets[(hash ^ hash >> 32) & (BUCKETS - 1)];
}

/* Address of the pointer to the element, or of the NULL in its place. */
static struct element **find(const void *map, const u8 *key, u32 key_bytes)
{
	struct element **at = bucket(map, key, key_bytes);

	while (*at && !((*at)->map == map && (*at)->key_bytes == key_bytes &&
			same(key_of(*at), key, key_bytes)))
		at = &(*at)->next;
	return at;
}

static struct map_state *state_of(const void *map)
{
	struct map_state *m;

	for (m = maps; m; m = m->next)
		if (m->map == map)
			return m;
	m = allocate(sizeof(*m));
	if (!m)
		return NULL;
	m->next = maps;
	m->map = map;
	m->entries = 0;
	m->array = NULL;
	maps = m;
	return m;
}

/* A new element, put at the head of `at`; the value is a copy, or zero without one. */
static struct element *insert(struct element **at, const void *map, const u8 *key, u32 key_bytes,
			      const u8 *value, u32 value_bytes)
{
	struct element **freed = &free_elements;
	struct element *e;

	while (*freed && ((*freed)->key_bytes != key_bytes || (*freed)->value_bytes != value_bytes))
		freed = &(*freed)->next;
	e = *freed;
	if (e)
		*freed = e->next;
	else
		e = allocate(sizeof(*e) + padded(key_bytes) + value_bytes);
	if (!e)
		return NULL;
	e->map = map;
	e->key_bytes = key_bytes;
	e->value_bytes = value_bytes;
	copy(key_of(e), key, key_bytes);
	copy(value_of(e), value, value_bytes);
	e->cookie = 0;
	e->next = *at;
	*at = e;
	return e;
}

static void take_out(struct element **at)
{
	struct element *e = *at;

	*at = e->next;
	e->next = free_elements;
	free_elements = e;
}

static bool is_array(struct dumbbell_map what)
{
	return what.type == BPF_MAP_TYPE_ARRAY || what.type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static void *array_slot(const void *map, struct dumbbell_map what, const u32 *index)
{
	struct map_state *m;

	if (what.key_bytes != sizeof(*index) || *index >= what.max_entries)
		return NULL;
	m = state_of(map);
	if (!m)
		return NULL;
	if (!m->array)
		m->array = allocate(padded(what.value_bytes) * what.max_entries);
	return m->array ? m->array + padded(what.value_bytes) * *index : NULL;
}

void *dumbbell_map_lookup(const void *map, struct dumbbell_map what, const void *key)
{
	struct element *e;

	if (is_array(what))
		return array_slot(map, what, key);
	e = *find(map, key, what.key_bytes);
	return e ? value_of(e) : NULL;
}

long dumbbell_map_update(const void *map, struct dumbbell_map what, const void *key,
			 const void *value, u64 flags)
{
	struct map_state *m = state_of(map);
	void *there = dumbbell_map_lookup(map, what, key);

	if (!m)
		return -ENOMEM;
	if (is_array(what) && !there)
		return -E2BIG;
	if (there && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!there && flags == BPF_EXIST)
		return -ENOENT;
	if (there) {
		copy(there, value, what.value_bytes);
		return 0;
	}
	if (m->entries >= what.max_entries)
		return -E2BIG;
	if (!insert(find(map, key, what.key_bytes), map, key, what.key_bytes, value,
		    what.value_bytes))
		return -ENOMEM;
	m->entries++;
	return 0;
}

long dumbbell_map_delete(const void *map, struct dumbbell_map what, const void *key)
{
	struct map_state *m = state_of(map);
	struct element **at = find(map, key, what.key_bytes);

	if (is_array(what))
		return -EINVAL;
	if (!m || !*at)
		return -ENOENT;
	take_out(at);
	m->entries--;
	return 0;
}

/* The flow's own block identifies a socket, because the host may move the socket. */
static u64 cookie_of(const void *sk)
{
	return tcp_sk(sk)->__host_storage;
}

static bool is_flows(const void *map, u32 value_bytes)
{
	if (value_bytes != dumbbell_storage_bytes)
		return false;
	if (!flows_map)
		flows_map = map;
	return flows_map == map;
}

/* The word after the value in the flow's own block: whether it exists. */
static u64 *is_there(u8 *block)
{
	return (u64 *)(block + padded(dumbbell_storage_bytes));
}

static void *flows_storage_get(u8 *block, const u8 *initial, u64 flags)
{
	u64 *there = is_there(block);

	if (*there)
		return block;
	if (!(flags & BPF_SK_STORAGE_GET_F_CREATE))
		return NULL;
	copy(block, initial, dumbbell_storage_bytes);
	*there = 1;
	return block;
}

/* A deleted value reads as zero in the series. */
static long flows_storage_delete(u8 *block)
{
	u64 *there = is_there(block);

	if (!*there)
		return -ENOENT;
	copy(block, NULL, dumbbell_storage_bytes);
	*there = 0;
	return 0;
}

void *dumbbell_storage_get(const void *map, u32 value_bytes, const void *sk, const void *value,
			   u64 flags)
{
	u64 cookie = cookie_of(sk);
	struct element **at;

	if (is_flows(map, value_bytes))
		return flows_storage_get((u8 *)(unsigned long)cookie, value, flags);
	at = find(map, (const u8 *)&cookie, sizeof(cookie));
	if (!*at && flags & BPF_SK_STORAGE_GET_F_CREATE &&
	    insert(at, map, (const u8 *)&cookie, sizeof(cookie), value, value_bytes))
		(*at)->cookie = cookie;
	return *at ? value_of(*at) : NULL;
}

long dumbbell_storage_delete(const void *map, u32 value_bytes, const void *sk)
{
	u64 cookie = cookie_of(sk);
	struct element **at;

	if (is_flows(map, value_bytes))
		return flows_storage_delete((u8 *)(unsigned long)cookie);
	at = find(map, (const u8 *)&cookie, sizeof(cookie));
	if (!*at)
		return -ENOENT;
	take_out(at);
	return 0;
}

/* Deletes a closed socket's elements from the maps. Called by the host. */
void dumbbell_forget_socket(u64 cookie)
{
	u32 i;

	for (i = 0; pool_used_bytes && i < BUCKETS; i++) {
		struct element **at = &buckets[i];

		while (*at) {
			if ((*at)->cookie == cookie)
				take_out(at);
			else
				at = &(*at)->next;
		}
	}
}
