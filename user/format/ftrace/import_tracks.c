// SPDX-License-Identifier: GPL-2.0
/*
 * Where records of text belong: a thread, a CPU in an interrupt, a second track for markers.
 */
#include "import_p.h"

struct track *track_of_interrupt(struct builder *b, const struct record *r)
{
	const struct track *softirq, *irq;

	if (!r->cpu)
		return track_of_cpu(b, r->cpu, PSEUDO_IRQ);
	softirq = r->cpu->tracks[PSEUDO_SOFTIRQ];
	irq = r->cpu->tracks[PSEUDO_IRQ];
	return track_of_cpu(b, r->cpu, softirq && softirq->depth && !(irq && irq->depth) ? PSEUDO_SOFTIRQ : PSEUDO_IRQ);
}

struct track *track_of(struct builder *b, const struct record *r)
{
	if (r->ev->in_irq && r->cpu)
		return track_of_interrupt(b, r);
	if (!r->t)
		return track_of_cpu(b, r->cpu, PSEUDO_CPU);
	if (r->t == b->idle)
		return track_of_cpu(b, r->cpu, PSEUDO_IDLE);
	if (!r->t->track)
		r->t->track = track_new(r->t->process, r->t->koid);
	return r->t->track;
}

/*
 * A marker is written by write(2). Where calls are traced too it lies within
 * one, its slice would end after the call has and be closed with it: such markers
 * get a track of their own beside the thread's.
 */
struct track *track_of_marker(struct builder *b, const struct record *r, bool begins)
{
	struct thread *t = r->t;

	if (!t || t == b->idle)
		return r->t ? track_of_cpu(b, r->cpu, PSEUDO_IDLE) :
			      track_of_cpu(b, r->cpu, PSEUDO_CPU);
	if (!t->markers && begins && (r->im->live ? r->im->live->own_tracks : t->track && t->track->kernel))
		t->markers = track_new(t->process, PSEUDO_MARKERS + r->im->marker_tracks++);
	if (t->markers && (begins || t->markers->depth || t->markers->deep))
		return t->markers;
	if (!t->track)
		t->track = track_new(t->process, t->koid);
	return t->track;
}

struct fxt_thread place_of(struct builder *b, const struct record *r)
{
	struct track *tr;

	if (r->t && r->t != b->idle)
		return (struct fxt_thread){ .process = r->t->process, .thread = r->t->koid };
	tr = track_of_cpu(b, r->cpu, r->t ? PSEUDO_IDLE : PSEUDO_CPU);
	return tr ? tr->at : (struct fxt_thread){ 0 };
}
