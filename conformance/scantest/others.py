"""Answers queries of random tables with DuckDB over the files, and with PyIceberg over the table. One JSON line for each answer."""
import json
import struct
import sys
import warnings

warnings.filterwarnings("ignore")

import duckdb
import pyarrow as pa
import pyiceberg
from pyiceberg.table import StaticTable


def spell(array, typ):
    """Writes an array's values as text: equal text for equal values only."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            return [v for chunk in array.chunks for v in spell(chunk, typ)]
    valid = array.is_valid().to_pylist()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if isinstance(typ, list):
        return nested(array, typ, valid)
    if pa.types.is_null(array.type) or typ == "unknown":
        return ["_"] * len(array)
    return [text(v, typ) if ok else "_" for v, ok in zip(plain(array, typ), valid)]


def plain(array, typ):
    if pa.types.is_temporal(array.type):
        unit = {"date": pa.date32(), "time": pa.time64("us"), "timestamp_ns": pa.timestamp("ns")}
        zone = getattr(array.type, "tz", None)
        want = unit.get(typ, pa.timestamp("us", tz=zone))
        if array.type != want:
            array = array.cast(want)
        array = array.cast(pa.int32()) if typ == "date" else array.cast(pa.int64())
    return array.to_pylist()


def text(v, typ):
    if typ == "boolean":
        return "t" if v else "f"
    if typ in ("float", "double"):
        return "nan" if v != v else "%016x" % struct.unpack(">Q", struct.pack(">d", v))
    if typ.startswith("decimal"):
        sign, digits, _ = v.as_tuple()
        n = int("".join(map(str, digits)))
        return str(-n if sign else n)
    if typ == "string":
        return "'" + v.encode().hex() + "'"
    if typ == "uuid":
        return "x" + (v.replace("-", "") if isinstance(v, str) else v.hex())
    if isinstance(v, bytes):
        return "x" + v.hex()
    return str(v)


def nested(array, typ, valid):
    kind, inner = typ[0], typ[1:]
    if kind == "struct":
        columns = [spell(array.field(i), t) for i, t in enumerate(inner)]
        if array.offset and columns and len(columns[0]) != len(array):
            columns = [c[array.offset:] for c in columns]
        return ["{" + ",".join(c[i] for c in columns) + "}" if ok else "_" for i, ok in enumerate(valid)]
    offsets = array.offsets.to_pylist()
    if kind == "map":
        keys, items = spell(array.keys, inner[0]), spell(array.items, inner[1])
        parts, ends = [k + ":" + v for k, v in zip(keys, items)], "()"
    else:
        parts, ends = spell(array.values, inner[0]), "[]"
    return [ends[0] + ",".join(parts[offsets[i]:offsets[i + 1]]) + ends[1] if ok else "_" for i, ok in enumerate(valid)]


def rows(result, types):
    if not types:
        return [""] * result.num_rows
    columns = [spell(result.column(i), t) for i, t in enumerate(types)]
    return ["".join(c[i] + ";" for c in columns) for i in range(result.num_rows)]


def say(q, by, **what):
    print(json.dumps({"table": q["table"], "query": q["query"], "by": by, **what}))


def short(e):
    out = type(e).__name__ + ": " + str(e).split("\n")[0]
    return out[:70]


def ask(con, queries, by, key):
    for q in queries:
        if q["why"] or not q[key]:
            say(q, by, reason=q["why"] or "metadata columns")
            continue
        try:
            answer = rows(con.execute(q[key]).to_arrow_table(), q["types"])
        except Exception as e:
            say(q, by, reason=short(e))
            continue
        say(q, by, rows=answer)


def leave(queries, by, why):
    for q in queries:
        say(q, by, reason=why)


def connect():
    con = duckdb.connect(config={"threads": 1})
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET arrow_lossless_conversion = false")
    return con


def files(view):
    if view["files"]:
        return leave(view["queries"], "DuckDB", view["files"])
    con = connect()
    try:
        con.execute("CREATE TEMP TABLE v AS " + view["sql"])
    except Exception as e:
        return leave(view["queries"], "DuckDB", short(e))
    ask(con, view["queries"], "DuckDB", "by_id")


def table(opened, view):
    if view["table"]:
        return leave(view["queries"], "PyIceberg", view["table"])
    con = connect()
    try:
        con.register("arrow", opened.scan(snapshot_id=view["snapshot"]).to_arrow())
        con.execute("CREATE TEMP TABLE v AS SELECT * FROM arrow")  # Arrow's own filters know another order of NaN
    except Exception as e:
        return leave(view["queries"], "PyIceberg", short(e))
    ask(con, view["queries"], "PyIceberg", "by_name")


def main():
    with open(sys.argv[1]) as f:
        tables = json.load(f)
    versions = f"DuckDB {duckdb.__version__}, PyIceberg {pyiceberg.__version__}, PyArrow {pa.__version__}"
    print(json.dumps({"by": "versions", "reason": versions}))
    for t in tables:
        try:
            opened, why = StaticTable.from_metadata(t["metadata"]), ""
        except Exception as e:
            opened, why = None, short(e)
        for view in t["views"]:
            files(view)
            view["table"] = view["table"] or why
            table(opened, view)


main()
