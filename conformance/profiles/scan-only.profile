# A Skua server built without its SQL engine.
can all
cannot sql-engine spark-dialect variant reads-only
tables probe
