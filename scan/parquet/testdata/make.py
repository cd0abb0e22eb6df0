"""Writes the files that pyarrow and DuckDB make, and for every Parquet file here its rows as pyarrow reads them (NAME.jsonl).

Values: null, true and numbers as they are; floating point as text; date, time and timestamp as a count of their unit; decimal as text;
binary and uuid as hexadecimal digits; struct, list and map as arrays. Usage: python make.py [FOLDER]
"""
import datetime as dt, decimal, json, os, sys
import duckdb, pyarrow as pa, pyarrow.parquet as pq

decimal.getcontext().prec = 80
here = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
path = lambda name: os.path.join(here, name)


def norm(a):
    t = a.type
    if isinstance(t, pa.BaseExtensionType):
        a, t = a.storage, a.type.storage_type
    if pa.types.is_struct(t):
        cols = [norm(a.field(i)) for i in range(t.num_fields)]
        return [[c[i] for c in cols] if ok else None for i, ok in enumerate(a.is_valid().to_pylist())]
    if pa.types.is_map(t) or pa.types.is_list(t) or pa.types.is_large_list(t):
        if pa.types.is_map(t):
            k, v = norm(a.keys), norm(a.items)
            inner = [list(p) for p in zip(k, v)]
        else:
            inner = norm(a.values)
        off = a.offsets.to_pylist()
        return [inner[off[i]:off[i + 1]] if ok else None for i, ok in enumerate(a.is_valid().to_pylist())]
    if pa.types.is_date(t):
        a = a.cast(pa.int32())
    elif pa.types.is_time32(t):
        return [None if v is None else v * 1000 for v in a.cast(pa.int32()).to_pylist()]
    elif pa.types.is_time64(t):
        per = {"us": 1, "ns": 1000}[t.unit]
        return [None if v is None else v // per for v in a.cast(pa.int64()).to_pylist()]
    elif pa.types.is_timestamp(t):
        a = a.cast(pa.int64())
    if pa.types.is_decimal(t):
        return [None if v is None else str(int(v.scaleb(t.scale))) for v in a.to_pylist()]
    if pa.types.is_floating(t):
        return [None if v is None else ("NaN" if v != v else repr(float(v))) for v in a.to_pylist()]
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return [None if v is None else v.hex() for v in a.to_pylist()]
    return a.to_pylist()


def write_pyarrow():
    far = [dt.datetime(3333, 3, 3, 3, 3, 3, 333333), None, dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999)]
    ts = pa.timestamp("us")
    table = pa.table({
        "flat": pa.array(far, ts), "list": pa.array([[v] for v in far], pa.list_(ts)),
        "struct": pa.array([{"t": v} for v in far], pa.struct([("t", ts)])),
        "map": pa.array([[("k", v)] for v in far], pa.map_(pa.string(), ts)),
        "text": pa.array(["a", None, "", "\u00e9"]), "raw": pa.array([b"a", None, b"", b"\xff"]),
    })
    pq.write_table(table, path("int96.parquet"), use_deprecated_int96_timestamps=True)
    nulls = pa.table({"i": pa.array([None] * 5, pa.int64()), "s": pa.array([None] * 5, pa.string()), "l": pa.array([None, [], None, [], None], pa.list_(pa.int32())),
                      "u8": pa.array([1, 255, None, 0, 7], pa.uint8()), "u32": pa.array([2**32 - 1, 0, None, 1, 2], pa.uint32()),
                      "i8": pa.array([-128, 127, None, 0, 1], pa.int8()), "t": pa.array([1, 2, None, 3, 86399999], pa.time32("ms")),
                      "d": pa.array([decimal.Decimal("-1.05"), decimal.Decimal("99999.99"), None, decimal.Decimal(0), decimal.Decimal("0.01")], pa.decimal128(7, 2))})
    pq.write_table(nulls, path("pyarrow_v2.parquet"), data_page_version="2.0", compression="snappy", store_decimal_as_integer=True, use_compliant_nested_type=False)
    summed = pa.table({"n": pa.array(range(400), pa.int64()), "s": pa.array([None if i % 5 == 0 else "text %d" % (i % 9) for i in range(400)])})
    pq.write_table(summed, path("checksums_v1.parquet"), write_page_checksum=True, compression="snappy", data_page_size=300, write_batch_size=40, use_dictionary=["s"])
    pq.write_table(summed, path("checksums_v2.parquet"), write_page_checksum=True, compression="none", data_page_version="2.0", data_page_size=300, write_batch_size=40)


def write_duckdb():
    duckdb.sql("SET TimeZone='UTC'")
    duckdb.sql("""COPY (SELECT i::INTEGER i, (i*1000000007)::BIGINT b, CASE WHEN i%%3=0 THEN NULL ELSE 'text '||i%%7 END s, (i/7)::DECIMAL(9,2) d9,
        (i/7)::DECIMAL(30,5) d30, DATE '1970-01-01'+(i-50)::INT d, TIME '00:00:00'+to_microseconds(i*1000001) t, TIMESTAMP '1969-12-31 23:59:00'+to_seconds(i) ts,
        (TIMESTAMP '2020-01-01'+to_microseconds(i))::TIMESTAMPTZ tz, i%%2=0 AS flag, i::DOUBLE/3 f, i::UTINYINT u, i::UINTEGER u4,
        [i, NULL, i+1] l, {'a': i, 'b': ['x'||i]} st, MAP {'k'||i: i} m, CASE WHEN i%%5=0 THEN [] WHEN i%%5=1 THEN NULL ELSE [[i],[],NULL] END ll
        FROM range(100) r(i)) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 60, COMPRESSION zstd)""" % path("duckdb.parquet"))
    duckdb.sql("COPY (SELECT i::BIGINT i, 'prefix '||i s, i::FLOAT f, (i*1.5)::DECIMAL(12,1) d FROM range(100) r(i)) TO '%s' (FORMAT parquet, PARQUET_VERSION 'V2', COMPRESSION snappy)" % path("duckdb_v2.parquet"))


if __name__ == "__main__":
    write_pyarrow()
    write_duckdb()
    for name in sorted(os.listdir(here)):
        if name.endswith(".parquet"):
            table = pq.read_table(path(name), coerce_int96_timestamp_unit="us", partitioning=None).combine_chunks()
            cols = [norm(c.combine_chunks() if c.num_chunks != 1 else c.chunk(0)) for c in table.columns]
            with open(path(name[:-8] + ".jsonl"), "w") as out:
                for row in zip(*cols):
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
