# Any Flight SQL server. It is asked for constants, for Flight SQL's metadata and about prepared statements; nothing of Iceberg, nothing that writes.
can calls parameters
tables probe
path query prepared twice
