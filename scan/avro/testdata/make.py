"""Writes records-CODEC.avro with fastavro and records.arrow, the same rows as pyarrow has them. Needs fastavro, cramjam, backports.zstd, pyarrow."""
import datetime as dt
import decimal
import random
import uuid

import fastavro
import pyarrow as pa

opt = lambda t: ["null", t]
schema = fastavro.parse_schema({
    "type": "record", "name": "table", "fields": [
        {"name": "b", "field-id": 1, "type": opt("boolean")},
        {"name": "i", "field-id": 2, "type": "int"},
        {"name": "l", "field-id": 3, "type": opt("long")},
        {"name": "f", "field-id": 4, "type": opt("float")},
        {"name": "d", "field-id": 5, "type": ["double", "null"]},
        {"name": "day", "field-id": 6, "type": opt({"type": "int", "logicalType": "date"})},
        {"name": "clock", "field-id": 7, "type": opt({"type": "long", "logicalType": "time-micros"})},
        {"name": "ts", "field-id": 8, "type": opt({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False})},
        {"name": "millis", "field-id": 9, "type": opt({"type": "long", "logicalType": "timestamp-millis", "adjust-to-utc": True})},
        {"name": "skipped", "field-id": 90, "type": {"type": "map", "values": {"type": "array", "items": opt("string"), "element-id": 93},
                                                     "key-id": 91, "value-id": 92}},
        {"name": "s", "field-id": 10, "type": opt("string")},
        {"name": "bin", "field-id": 11, "type": opt("bytes")},
        {"name": "fix", "field-id": 12, "type": opt({"type": "fixed", "name": "fix5", "size": 5})},
        {"name": "u", "field-id": 13, "type": opt({"type": "fixed", "name": "uuid_fixed", "size": 16})},
        {"name": "dec", "field-id": 14, "type": opt({"type": "fixed", "name": "decimal_9_2", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2})},
        {"name": "big", "field-id": 15, "type": opt({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10})},
        {"name": "list", "field-id": 16, "type": opt({"type": "array", "items": opt("int"), "element-id": 17})},
        {"name": "map", "field-id": 18, "type": opt({"type": "map", "values": opt("long"), "key-id": 19, "value-id": 20})},
        {"name": "pairs", "field-id": 21, "type": opt({"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k22_v23", "fields": [
            {"name": "key", "type": "int", "field-id": 22}, {"name": "value", "type": opt("string"), "field-id": 23}]}})},
        {"name": "st", "field-id": 24, "type": opt({"type": "record", "name": "r24", "fields": [
            {"name": "x", "type": opt("int"), "field-id": 25},
            {"name": "gone", "type": opt("string"), "field-id": 94},
            {"name": "inner", "type": opt({"type": "record", "name": "r26", "fields": [
                {"name": "y", "type": opt("double"), "field-id": 27},
                {"name": "dates", "type": {"type": "array", "items": {"type": "int", "logicalType": "date"}, "element-id": 29}, "field-id": 28}]}),
             "field-id": 26}]})},
        {"name": "color", "field-id": 30, "type": {"type": "enum", "name": "color", "symbols": ["red", "green", "blue"]}},
    ]})

rnd = random.Random(5)
rows = []
for n in range(300):
    maybe = lambda v: None if rnd.random() < 0.2 else v
    day = dt.date(1969, 12, 25) + dt.timedelta(days=rnd.randrange(-200000, 200000))
    at = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=rnd.randrange(-10**16, 10**16))
    milli = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc) + dt.timedelta(milliseconds=rnd.randrange(-10**13, 10**13))
    text = "".join(rnd.choice("aé€😀 ") for _ in range(rnd.randrange(12)))
    rows.append({
        "b": maybe(rnd.random() < 0.5), "i": rnd.randrange(-2**31, 2**31), "l": maybe(rnd.randrange(-2**63, 2**63)), "f": maybe(rnd.choice([0.5, -0.0, float("inf"), 2.0**-126])),
        "d": maybe(rnd.uniform(-1e300, 1e300)), "day": maybe(day), "clock": maybe((dt.datetime.min + dt.timedelta(microseconds=rnd.randrange(86400 * 10**6))).time()),
        "ts": maybe(at), "millis": maybe(milli), "skipped": {"k": ["a", None], text: []}, "s": maybe(text), "bin": maybe(rnd.randbytes(rnd.randrange(40))),
        "fix": maybe(rnd.randbytes(5)), "u": maybe(uuid.UUID(int=rnd.getrandbits(128)).bytes), "dec": maybe(decimal.Decimal(rnd.randrange(-10**9 + 1, 10**9)).scaleb(-2)),
        "big": maybe(decimal.Decimal(rnd.randrange(-10**27, 10**27)).scaleb(-10)), "list": maybe([maybe(rnd.randrange(9)) for _ in range(rnd.randrange(4))]),
        "map": maybe({"k%d" % i: maybe(rnd.getrandbits(40)) for i in range(rnd.randrange(4))}),
        "pairs": maybe([{"key": i, "value": maybe(str(i))} for i in range(rnd.randrange(3))]),
        "st": maybe({"x": maybe(n), "gone": text, "inner": maybe({"y": maybe(n / 3), "dates": [day] * rnd.randrange(3)})}),
        "color": rnd.choice(["red", "green", "blue"])})

for codec in ["null", "deflate", "snappy", "zstandard", "bzip2"]:
    with open("records-%s.avro" % codec, "wb") as out:
        fastavro.writer(out, schema, rows, codec=codec, sync_interval=4000 if codec == "null" else 16000)

inner = pa.struct([("y", pa.float64()), ("dates", pa.list_(pa.date32()))])
types = {"b": pa.bool_(), "i": pa.int64(), "l": pa.int64(), "f": pa.float64(), "d": pa.float64(), "day": pa.timestamp("us"), "clock": pa.time64("us"),
         "ts": pa.timestamp("us"), "millis": pa.timestamp("us", "UTC"), "s": pa.string(), "bin": pa.binary(), "fix": pa.binary(5), "u": pa.binary(16),
         "dec": pa.decimal128(20, 2), "big": pa.decimal128(38, 10), "list": pa.list_(pa.int64()), "map": pa.map_(pa.string(), pa.int64()),
         "pairs": pa.map_(pa.int32(), pa.string()), "st": pa.struct([("inner", inner), ("x", pa.int64()), ("later", pa.int32())]), "color": pa.string()}
columns = {}
for name, typ in types.items():
    values = [r[name] for r in rows]
    if name == "day":
        values = [v and dt.datetime(v.year, v.month, v.day) for v in values]
    if name == "map":
        values = [v if v is None else list(v.items()) for v in values]
    if name == "pairs":
        values = [v if v is None else [(e["key"], e["value"]) for e in v] for v in values]
    columns[name] = pa.array(values, typ)
table = pa.table(columns)
with pa.ipc.new_file("records.arrow", table.schema) as out:
    out.write_table(table)
