#!/usr/bin/env python3
"""TPC-H and TPC-DS over Iceberg tables through Skua, against DuckDB on the same Parquet files.

    tpc.py make OUT --suite tpch --sf 0.01      Parquet files, Iceberg tables and a properties file for the server
    tpc.py check OUT --suite tpch --uri URI      every query, compared with DuckDB's answer: any order, decimals exact
    tpc.py time OUT --suite tpch --uri URI --pid PID [--rounds 3]
                                                 CPU seconds of the server and of DuckDB's module, one query after the other by turns

Needs duckdb, duckdb-extension-tpch, duckdb-extension-tpcds (one version), pyiceberg[sql-sqlite,pyarrow], adbc_driver_flightsql.
"""
import argparse, decimal, glob, importlib, math, os, re, resource, sys, time, warnings
import duckdb

warnings.filterwarnings("ignore")
TABLES = {"tpch": "customer lineitem nation orders part partsupp region supplier".split(), "tpcds": None}


def engine():
    return duckdb.connect(config={"allow_unsigned_extensions": "true"})


def load(con, suite):
    package = importlib.import_module("duckdb_extension_" + suite)
    path = glob.glob(os.path.join(os.path.dirname(package.__file__), "**", suite + ".duckdb_extension"), recursive=True)[0]
    con.execute(f"LOAD '{path}'")


def make(a):
    con = engine()
    load(con, a.suite)
    con.execute(f"CALL {'dbgen' if a.suite == 'tpch' else 'dsdgen'}(sf={a.sf})")
    os.makedirs(f"{a.out}/parquet/{a.suite}", exist_ok=True)
    names = [r[0] for r in con.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
    from pyiceberg.catalog.sql import SqlCatalog
    out = os.path.abspath(a.out)
    cat = SqlCatalog("tpc", uri=f"sqlite:///{out}/catalog.db", warehouse=f"file://{out}/warehouse")
    cat.create_namespace_if_not_exists(a.suite)
    for name in names:
        path = f"{out}/parquet/{a.suite}/{name}.parquet"
        con.execute(f"COPY {name} TO '{path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 262144)")
        data = con.execute(f"SELECT * FROM '{path}'").to_arrow_table() if hasattr(con, "to_arrow_table") else con.execute(f"SELECT * FROM '{path}'").fetch_arrow_table()
        table = cat.create_table((a.suite, name), schema=data.schema)
        table.add_files([path]) if False else table.append(data)
        print(name, data.num_rows)
    with open(f"{out}/skua.conf", "w") as f:
        f.write(f"spark.sql.catalog.tpc org.apache.iceberg.spark.SparkCatalog\nspark.sql.catalog.tpc.type jdbc\nspark.sql.catalog.tpc.uri jdbc:sqlite:{out}/catalog.db\n"
                f"spark.sql.catalog.tpc.warehouse file://{out}/warehouse\nspark.sql.defaultCatalog tpc\n")


def oracle(a):
    """DuckDB over the data files of the Iceberg tables, so that both sides read the same bytes."""
    con = engine()
    load(con, a.suite)
    queries = con.execute(f"SELECT query_nr, query FROM {a.suite}_queries() ORDER BY 1").fetchall()
    for folder in glob.glob(f"{a.out}/warehouse/{a.suite}/*"):
        con.execute(f"CREATE VIEW {os.path.basename(folder)} AS SELECT * FROM read_parquet('{folder}/data/*.parquet')")
    return con, [(n, q) for n, q in queries if not a.only or str(n) in a.only.split(",")]


def client(a):
    import adbc_driver_flightsql.dbapi as dbapi
    con = dbapi.connect(a.uri)
    cur = con.cursor()
    cur.execute(f"USE tpc.{a.suite}")
    return cur


def norm(v):
    if isinstance(v, float):
        return "nan" if math.isnan(v) else f"{v:.9g}"
    if isinstance(v, decimal.Decimal):
        return str(v.normalize() + 0)
    if isinstance(v, int) and not isinstance(v, bool):
        return str(decimal.Decimal(v).normalize() + 0)
    return str(v)


def rows(table):
    return sorted([norm(v) for v in r] for r in zip(*[c.to_pylist() for c in table.columns])) if table.num_columns else []


def check(a):
    con, queries = oracle(a)
    cur = client(a)
    bad = 0
    for n, q in queries:
        q = q.strip().rstrip(";")
        want = rows(con.execute(q).fetch_arrow_table())
        try:
            cur.execute(q)
            got = rows(cur.fetch_arrow_table())
        except Exception as e:
            bad += 1
            print(f"{a.suite} {n}: FAILED {str(e)[:400]}")
            continue
        if got != want:
            bad += 1
            diff = [(g, w) for g, w in zip(got, want) if g != w][:2]
            print(f"{a.suite} {n}: WRONG {len(got)} rows for {len(want)}; {diff}")
    print(f"{a.suite}: {len(queries) - bad} of {len(queries)} equal")
    return bad


def cpu(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timing(a):
    con, queries = oracle(a)
    cur = client(a)
    ours, theirs = {}, {}
    for n, q in queries:
        q = q.strip().rstrip(";")
        for _ in range(a.rounds):
            before = cpu(a.pid)
            cur.execute(q)
            cur.fetch_arrow_table()
            ours.setdefault(n, []).append(cpu(a.pid) - before)
            before = time.process_time()
            con.execute(q).fetch_arrow_table()
            theirs.setdefault(n, []).append(time.process_time() - before)
        x, y = min(ours[n]), min(theirs[n])
        print(f"{a.suite} {n:3d}: {x:6.2f} s, DuckDB {y:6.2f} s, ratio {x / max(y, 0.01):5.2f}", flush=True)
    x, y = sum(map(min, ours.values())), sum(map(min, theirs.values()))
    print(f"{a.suite} all: {x:.2f} s, DuckDB {y:.2f} s, ratio {x / y:.2f}")


p = argparse.ArgumentParser()
p.add_argument("command", choices=["make", "check", "time"])
p.add_argument("out")
p.add_argument("--suite", default="tpch")
p.add_argument("--sf", type=float, default=0.01)
p.add_argument("--uri", default="grpc://127.0.0.1:31337")
p.add_argument("--only", default="")
p.add_argument("--pid", type=int)
p.add_argument("--rounds", type=int, default=3)
a = p.parse_args()
sys.exit({"make": make, "check": check, "time": timing}[a.command](a) or 0)
