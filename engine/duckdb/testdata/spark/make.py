"""Asks Spark 4.1 what the expressions of expressions.txt are, and writes what it says to answers.jsonl and functions.txt.

    python make.py        # needs pyspark 4.1.1 and a Java that it runs on
    python make.py more   # keeps the answers that there are, and asks what is new
    python make.py numbers  # asks what is in expressions_numbers.txt, for answers_numbers.jsonl


Only to make the answers anew: the tests read what is recorded. An expression names columns of the table t, whose rows are in table.json. It is asked over all
rows of it, and with the values of two rows in the places of its columns. Where it fails over some rows, it is asked over the others, and over the first row of
each condition that it fails with. A line `@zone NAME` sets the session's time zone, and `@statement` in front of a line has it asked as it is.
"""

import json
import logging
import os
import re
import sys
import tempfile
import zlib

from pyspark.sql import SparkSession

HERE = os.path.dirname(os.path.abspath(__file__))

COLUMNS = [("id", "int"), ("tiny", "tinyint"), ("small", "smallint"), ("num", "int"), ("big", "bigint"), ("flt", "float"), ("dbl", "double"), ("amt", "decimal(10,2)"),
           ("wide", "decimal(38,10)"), ("str", "string"), ("txt", "string"), ("digits", "string"), ("flag", "boolean"), ("raw", "binary"), ("dat", "date"), ("ts", "timestamp"),
           ("ntz", "timestamp_ntz"), ("nums", "array<int>"), ("strs", "array<string>"), ("dict", "map<string,int>"), ("rec", "struct<a:int,b:string>")]

# One list for each column: the values of the rows as Spark's literals, None for NULL.
VALUES = {
    "id": [str(i) for i in range(1, 13)],
    "tiny": [None, "0", "1", "-1", "127", "-128", "5", "10", "-7", "100", "3", "2"],
    "small": [None, "0", "1", "-1", "32767", "-32768", "5", "16", "-300", "100", "2", "9"],
    "num": [None, "0", "1", "-1", "2147483647", "-2147483648", "3", "2", "-5", "2024", "60", "12"],
    "big": [None, "0", "1", "-1", "9223372036854775807", "-9223372036854775808", "1700000000", "20", "-86401", "1709210096789", "255", "7"],
    "flt": [None, "0.0", "-0.0", "1.5", "-2.5", "NaN", "Infinity", "-Infinity", "3.4028235E38", "1.4E-45", "0.1", "100.0"],
    "dbl": [None, "0.0", "-0.0", "1.5", "-2.5", "NaN", "Infinity", "-Infinity", "1.7976931348623157E308", "4.9E-324", "0.5", "12345678.9"],
    "amt": [None, "0.00", "1.25", "-1.25", "99999999.99", "-99999999.99", "2.50", "-2.50", "0.05", "3.35", "100.00", "-0.01"],
    "wide": [None, "0", "1.5", "-1.5", "9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999", "0.0000000001", "2.5", "-3.5", "12345.6789", "1e9", "7"],
    "str": [None, "", "Spark", " a b ", "äÖß€", "😀x😀", "a,b;c", "A%_\\z", "one\ntwo", "hello world of SQL", "\tx\u00a0", "İstanbul"],
    "txt": [None, "a", "ar", "b", "ß", "x", ",", "%", "o", "o", "", "STAN"],
    "digits": [None, "", "12", "-7", " 42 ", "1e3", "abc", "007", "9999999999", "3.9", "0x1F", "+5"],
    "flag": [None, "true", "false", "true", "false", "true", "false", "true", "false", "true", "false", "true"],
    "raw": [None, "", "00FF", "537061726B", "C3A4", "7F80", "61", "00", "FFFE", "0A", "E282AC", "4141"],
    "dat": [None, "1970-01-01", "2024-02-29", "1582-10-04", "0001-01-01", "9999-12-31", "-0044-03-15", "+10000-01-01", "1969-12-31", "2023-12-31", "0000-02-29", "2025-01-31"],
    "ts": [None, "1970-01-01 00:00:00", "2024-02-29 12:34:56.789012", "1582-10-10 01:02:03", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "-0044-03-15 06:00:00",
           "+10000-01-01 00:00:00", "1969-12-31 23:59:59.999999", "2024-12-30 23:00:00.5", "0000-12-31 13:30:00", "2025-03-30 02:30:00"],
    "ntz": [None, "1970-01-01 00:00:00", "2024-02-29 12:34:56.789012", "1582-10-10 01:02:03", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "-0044-03-15 06:00:00",
            "+10000-01-01 00:00:00", "1969-12-31 23:59:59.999999", "2024-12-30 23:00:00.5", "0000-12-31 13:30:00", "2025-03-30 02:30:00"],
    "nums": [None, [], ["1", "2", "3"], ["NULL", "1", "NULL"], ["3", "1", "2", "1"], ["-1", "0", "2147483647"], ["NULL"], ["5"], ["2", "2", "NULL", "2"], ["10", "9", "8", "7", "6"], ["1", "3"], ["0"]],
    "strs": [None, [], ["a", "b", "c"], ["NULL", "a", ""], ["b", "a", "b"], ["ä", "Ä", "z"], ["NULL"], ["a,b", "c"], ["x", "NULL", "y"], ["one"], ["", ""], ["B", "a", "A"]],
    "dict": [None, [], [("a", "1"), ("b", "NULL")], [("ä", "2")], [("x", "3"), ("a", "4")], [("", "0")], [("a", "NULL")], [("k", "7"), ("l", "8"), ("m", "9")], [("b", "5")], [("a", "6")],
             [("one", "1"), ("two", "2")], [("A", "1")]],
    "rec": [None, ("1", "x"), ("NULL", "y"), ("3", None), ("NULL", None), ("5", ""), ("6", "ä"), ("7", "a,b"), ("8", "q\"q"), ("9", "Z"), ("10", " "), ("11", "x")],
}


def text(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def literal(name, kind, value):
    """A value as Spark's SQL."""
    if value is None:
        return "CAST(NULL AS %s)" % kind.upper()
    if name == "str" or kind == "string":
        return text(value)
    suffix = {"tinyint": "Y", "smallint": "S", "bigint": "L"}.get(kind, "")
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return value + suffix
    if kind in ("float", "double") or kind.startswith("decimal"):
        return "CAST('%s' AS %s)" % (value, kind.upper())
    if kind == "boolean":
        return value
    if kind == "binary":
        return "X'%s'" % value
    if kind in ("date", "timestamp", "timestamp_ntz"):
        return "%s '%s'" % (kind.upper(), value)
    if kind.startswith("array"):
        element = (lambda v: "NULL" if v == "NULL" else text(v)) if "string" in kind else (lambda v: v)
        return "CAST(array(%s) AS %s)" % (", ".join(element(v) for v in value), kind.upper())
    if kind.startswith("map"):
        return "CAST(map(%s) AS %s)" % (", ".join(text(k) + ", " + v for k, v in value), kind.upper())
    return "CAST(named_struct('a', %s, 'b', %s) AS %s)" % (value[0], "NULL" if value[1] is None else text(value[1]), "STRUCT<a: INT, b: STRING>")


def started():
    logging.disable(logging.CRITICAL)
    b = SparkSession.builder.master("local[1]")
    for key, value in {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.sql.session.timeZone": "UTC",
                       "spark.driver.memory": "1500m", "spark.sql.shuffle.partitions": "1", "spark.log.level": "OFF", "spark.sql.warehouse.dir": tempfile.mkdtemp(),
                       "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}.items():
        b = b.config(key, value)
    return b.getOrCreate()


def spelled(row, i, kind):
    """A value of an internal row or array, with the type's JSON form, as JSON: times and dates are whole numbers since 1970, bytes are hexadecimal, maps lists of pairs."""
    if row.isNullAt(i):
        return None
    if isinstance(kind, dict):
        if kind["type"] == "array":
            inner = row.getArray(i)
            return [spelled(inner, j, kind["elementType"]) for j in range(inner.numElements())]
        if kind["type"] == "map":
            inner = row.getMap(i)
            keys, values = inner.keyArray(), inner.valueArray()
            return [[spelled(keys, j, kind["keyType"]), spelled(values, j, kind["valueType"])] for j in range(inner.numElements())]
        if kind["type"] == "struct":
            inner = row.getStruct(i, len(kind["fields"]))
            return [spelled(inner, j, f["type"]) for j, f in enumerate(kind["fields"])]
    if kind.startswith("decimal"):
        precision, scale = (int(n) for n in re.findall(r"\d+", kind))
        return row.getDecimal(i, precision, scale).toString()
    if kind in ("float", "double"):
        return repr(row.getFloat(i) if kind == "float" else row.getDouble(i))
    if kind == "binary":
        return bytes(row.getBinary(i)).hex()
    if kind.startswith("string") or kind.startswith("varchar") or kind.startswith("char"):
        return row.getUTF8String(i).toString()
    if kind == "boolean":
        return row.getBoolean(i)
    if kind in ("byte", "short", "integer", "date") or re.search(r"interval (year|month)", kind):
        return {"byte": row.getByte, "short": row.getShort}.get(kind, row.getInt)(i)
    if kind == "interval":
        v = row.getInterval(i)
        return [v.months, v.days, v.microseconds] if isinstance(v.months, int) else v.toString()
    if kind == "variant":
        return row.getVariant(i).toString()
    return row.getLong(i)


# A column's name in an expression.
COLUMN = r"(?<![\w'.@])%s\b(?![('])"


class Asking:
    """What is asked of one Spark."""

    def __init__(self, spark, out):
        self.spark, self.out, self.zone, self.asked = spark, out, "UTC", set()  # statements, with their zones

    def ask(self, sql):
        try:
            frame = self.spark.sql(sql)
            schema = json.loads(frame.schema.json())["fields"]
            rows = frame._jdf.queryExecution().executedPlan().executeCollect()
            return {"names": [f["name"] for f in schema], "types": [f.dataType.simpleString() for f in frame.schema.fields],
                    "rows": [[spelled(r, i, f["type"]) for i, f in enumerate(schema)] for r in rows]}
        except Exception as e:  # whatever Spark throws is its answer
            condition = getattr(e, "getCondition", lambda: None)()
            state = getattr(e, "getSqlState", lambda: None)()
            text = str(e)
            if condition is None:  # an error of a task has its condition in its text
                found = re.search(r"\[([A-Z][A-Z_0-9.]+)\].*?SQLSTATE: (\w{5})", text, re.S)
                condition, state = found.groups() if found else (type(e).__name__ + ": " + text[:150].split("\n")[0], "")
            return {"error": condition, "state": state}

    def record(self, sql, answer):
        if (sql, self.zone) in self.asked:
            return
        self.asked.add((sql, self.zone))
        entry = {"sql": sql}
        if self.zone != "UTC":
            entry["zone"] = self.zone
        entry.update(answer)
        self.out.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")

    def together(self, texts, rest):
        """The answers to expressions over the same rows, as many in one statement as go together."""
        if not texts:
            return []
        answer = self.ask("SELECT " + ", ".join(texts) + rest)
        if len(texts) == 1:
            return [answer]
        alone = any(re.match("(pos)?explode|inline|stack|json_tuple", t) or re.search(r"\bOVER\b", t) for t in texts)  # rows, or their order, would be the others', too
        if "error" not in answer and len(answer["names"]) == len(texts) and not alone:
            return [{"names": [answer["names"][i]], "types": [answer["types"][i]], "rows": [[r[i]] for r in answer["rows"]]} for i in range(len(texts))]
        half = len(texts) // 2
        return self.together(texts[:half], rest) + self.together(texts[half:], rest)

    def expressions(self, texts):
        """Asks over the table's rows, and with the values of some of them."""
        over, alone = [], []
        known = {sql.split(" FROM t WHERE id")[0].removesuffix(" FROM t") for sql, zone in self.asked if zone == self.zone}
        for text in texts:
            if "SELECT " + text in known:
                continue
            used = [(n, k) for n, k in COLUMNS if re.search(COLUMN % n, text)]
            if not used:
                alone.append(text)
                continue
            over.append(text)
            seed = zlib.crc32(text.encode())
            for row in sorted({seed % 12, (seed // 12 % 11 + 1 + seed) % 12}):
                constant = text
                for n, k in used:
                    constant = re.sub(COLUMN % n, lambda m: literal(n, k, VALUES[n][row]), constant)
                alone.append(constant)
        for text, answer in zip(over, self.together(over, " FROM t")):
            if "error" in answer and "types" in self.ask("SELECT " + text + " FROM t LIMIT 0"):
                self.rows("SELECT " + text + " FROM t")
            else:
                self.record("SELECT " + text + " FROM t", answer)
        for text, answer in zip(alone, self.together(alone, " FROM VALUES (0)")):
            self.record("SELECT " + text, answer)

    def rows(self, sql):
        """Asks over single rows where some of them fail."""
        good, seen = [], set()
        for n in range(1, 13):
            one = sql + " WHERE id = %d" % n
            answer = self.ask(one)
            if "error" not in answer:
                good.append(str(n))
            elif answer["error"] not in seen:
                seen.add(answer["error"])
                self.record(one, answer)
        if good:
            rest = sql + " WHERE id IN (" + ", ".join(good) + ")"
            self.record(rest, self.ask(rest))

    def set_zone(self, zone):
        self.zone = zone
        self.spark.conf.set("spark.sql.session.timeZone", zone)


def main():
    spark = started()
    rows = ["(" + ", ".join(literal(n, k, VALUES[n][i]) for n, k in COLUMNS) + ")" for i in range(12)]
    spark.sql("CREATE TEMPORARY VIEW t AS SELECT * FROM VALUES " + ", ".join(rows) + " AS v(" + ", ".join(n for n, _ in COLUMNS) + ")")
    more, lists = "more" in sys.argv[1:], [a for a in sys.argv[1:] if a != "more"]
    suffix = "".join("_" + name for name in lists)
    if not lists:
        with open(os.path.join(HERE, "table.json"), "w") as out:
            asking = Asking(spark, out)
            asking.record("SELECT * FROM t", asking.ask("SELECT * FROM t"))
        with open(os.path.join(HERE, "functions.txt"), "w") as out:
            out.write("".join(r[0] + "\n" for r in spark.sql("SHOW FUNCTIONS").collect() if re.match(r"\w+$", r[0])))
    answers = os.path.join(HERE, "answers%s.jsonl" % suffix)
    with open(answers, "a" if more else "w") as out, open(os.path.join(HERE, "expressions%s.txt" % suffix)) as given:
        asking, waiting = Asking(spark, out), []
        if more:
            asking.asked = {(a["sql"], a.get("zone", "UTC")) for a in map(json.loads, open(answers))}

        def flush():
            asking.expressions(waiting)
            print(len(asking.asked), waiting[-1:], file=sys.stderr)
            waiting.clear()

        for line in given:
            line = line.rstrip("\n")
            if line.startswith(("@", "#")) or len(waiting) == 16:
                flush()
            if line.startswith("@zone "):
                asking.set_zone(line[6:])
            elif line.startswith("@statement "):
                asking.record(line[11:], asking.ask(line[11:]))
            elif line.strip() and not line.startswith("#"):
                waiting.append(line)
        flush()


if __name__ == "__main__":
    main()
