/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of records that mean something to the state of a piece.
 */
#ifndef PIECE_TEXTS_P_H
#define PIECE_TEXTS_P_H

#include <stddef.h>

#define PIECE_TEXTS(X) \
	X(TEXT_OUTGOING_WEIGHT,	"outgoing_weight") \
	X(TEXT_INCOMING_WEIGHT,	"incoming_weight") \
	X(TEXT_WEIGHT,		"weight") \
	X(TEXT_WAKER,		"waker") \
	X(TEXT_MARK,		"mark") \
	X(TEXT_LINUX_STATE,	"linux_state") \
	X(TEXT_FILTERED,	"filtered") \
	X(TEXT_UNFINISHED,	"unfinished") \
	X(TEXT_START,		"start") \
	X(TEXT_STOP,		"stop") \
	X(TEXT_GAP,		"gap") \
	X(TEXT_FILTER,		"filter") \
	X(TEXT_STATE,		"state") \
	X(TEXT_IMPLIED,		"implied") \
	X(TEXT_KFXT,		"kfxt") \
	X(TEXT_FUNCTION,	"function") \
	X(TEXT_USDT,		"usdt") \
	X(TEXT_LOG,		"log") \
	X(TEXT_R,		"R") \
	X(TEXT_S,		"S") \
	X(TEXT_D,		"D") \
	X(TEXT_T,		"T") \
	X(TEXT_t,		"t") \
	X(TEXT_X,		"X") \
	X(TEXT_Z,		"Z") \
	X(TEXT_P,		"P") \
	X(TEXT_I,		"I") \
	X(TEXT_R_PLUS,		"R+")

enum text {
	TEXT_OTHER,
#define X(id, text) id,
	PIECE_TEXTS(X)
#undef X
	TEXT_CNT
};

const char *piece_text_name(enum text text);
enum text piece_text_of(const char *data, size_t len);

#endif
