// Aggregates of Spark that are made of central moments, of one argument or of pairs. They are Spark's to the last digit where rows come in one order.
#ifndef SKUA_STATISTICS_H
#define SKUA_STATISTICS_H

#include "bridge.h"

// skua_add_statistics makes the aggregates known. It gives the name of one that is refused, NULL: none.
const char *skua_add_statistics(duckdb_connection connection);

#endif
