/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windowed maximum (or minimum) in constant space and time, after Kathleen
 * Nichols: besides the best sample keep two runners-up, each newer than the one
 * before it, so that there is a successor when the best one grows too old.
 *
 * Time `t` may be in any unit that counts upwards and wraps at 2^32 (BBR counts
 * round trips); `win` is in that unit. The result can miss the true extreme only
 * by a sample that was superseded within the same quarter of the window.
 */
#ifndef __WIN_MINMAX_H__
#define __WIN_MINMAX_H__

static __always_inline u32 minmax_get(const struct minmax *m)
{
	return m->s[0].v;
}

static __always_inline u32 minmax_reset(struct minmax *m, u32 t, u32 v)
{
	struct minmax_sample sample = { .t = t, .v = v };

	m->s[0] = sample;
	m->s[1] = sample;
	m->s[2] = sample;
	return v;
}

/* The best sample is too old: the runners-up move up, `sample` becomes the last. */
static __always_inline void minmax_shift(struct minmax *m, struct minmax_sample sample)
{
	m->s[0] = m->s[1];
	m->s[1] = m->s[2];
	m->s[2] = sample;
}

/* Retire what left the window, and keep the runners-up apart in time. */
static __always_inline u32 minmax_age(struct minmax *m, u32 win, struct minmax_sample sample)
{
	u32 age = sample.t - m->s[0].t;

	if (age > win) {
		minmax_shift(m, sample);
		/* Twice at most: the caller saw that the last one is in the window. */
		if (sample.t - m->s[0].t > win)
			minmax_shift(m, sample);
	} else if (m->s[1].t == m->s[0].t && age > win / 4) {
		m->s[1] = sample;
		m->s[2] = sample;
	} else if (m->s[2].t == m->s[1].t && age > win / 2) {
		m->s[2] = sample;
	}
	return m->s[0].v;
}

static __always_inline u32 minmax_running_max(struct minmax *m, u32 win, u32 t, u32 v)
{
	struct minmax_sample sample = { .t = t, .v = v };

	if (v >= m->s[0].v || t - m->s[2].t > win)
		return minmax_reset(m, t, v);
	if (v >= m->s[1].v)
		m->s[1] = m->s[2] = sample;
	else if (v >= m->s[2].v)
		m->s[2] = sample;
	return minmax_age(m, win, sample);
}

static __always_inline u32 minmax_running_min(struct minmax *m, u32 win, u32 t, u32 v)
{
	struct minmax_sample sample = { .t = t, .v = v };

	if (v <= m->s[0].v || t - m->s[2].t > win)
		return minmax_reset(m, t, v);
	if (v <= m->s[1].v)
		m->s[1] = m->s[2] = sample;
	else if (v <= m->s[2].v)
		m->s[2] = sample;
	return minmax_age(m, win, sample);
}

#endif /* __WIN_MINMAX_H__ */
