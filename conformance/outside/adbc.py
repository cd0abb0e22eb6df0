"""Holds sessions with a Flight SQL server through ADBC and asks what package outside says, a JSON object a line."""

import base64
import datetime
import decimal
import json
import re
import sys

import adbc_driver_flightsql
import adbc_driver_manager
import pyarrow as pa

TYPES = {
    "boolean": pa.bool_(), "int": pa.int32(), "bigint": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.string(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"), "void": pa.null(),
}


def argument(line, number):
    word, _, text = line.partition(" ")
    kind = TYPES.get(word)
    if kind is None:
        precision, scale = re.fullmatch(r"decimal\((\d+),(\d+)\)", word).groups()
        kind = pa.decimal128(int(precision), int(scale))
    if text == "NULL" or word == "void":
        value = None
    elif word == "string":
        value = text
    elif word == "binary":
        value = base64.b64decode(text)
    elif word == "boolean":
        value = text == "true"
    elif word.startswith("decimal"):
        value = decimal.Decimal(text)
    elif word in ("float", "double"):
        value = float(text)
    elif word == "date":
        value = datetime.date.fromisoformat(text)
    elif word.startswith("timestamp"):
        value = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    else:
        value = int(text)
    return f"p{number}", pa.array([value], kind)


class Session:
    def __init__(self, hello):
        options = {
            "uri": hello["uri"].replace("grpc://", "grpc+tcp://"),
            "adbc.flight.sql.rpc.with_cookie_middleware": "true",
            "adbc.flight.sql.rpc.timeout_seconds.query": "120",
        }
        if hello["user"]:
            options["username"], options["password"] = hello["user"], hello["password"]
        if hello["tls_roots"]:
            with open(hello["tls_roots"]) as f:
                options["adbc.flight.sql.client_option.tls_root_certs"] = f.read()
        self.database = adbc_driver_flightsql.connect(options.pop("uri"), options)
        self.connection = adbc_driver_manager.AdbcConnection(self.database)

    def close(self):
        self.connection.close()
        self.database.close()

    def effect(self, path, sql):
        statement = adbc_driver_manager.AdbcStatement(self.connection)
        try:
            statement.set_sql_query(sql)
            if path == "query":
                stream, _ = statement.execute_query()
                pa.RecordBatchReader._import_from_c(stream.address).read_all()
                return
            if path in ("prepared", "twice"):
                statement.prepare()
            for _ in range(2 if path == "twice" else 1):
                statement.execute_update()
        finally:
            statement.close()

    def ask(self, path, sql, lines, varies):
        statement = adbc_driver_manager.AdbcStatement(self.connection)
        try:
            statement.set_sql_query(sql)
            if path in ("prepared", "twice") or lines:
                statement.prepare()
            if lines:
                names, arrays = zip(*(argument(line, i) for i, line in enumerate(lines)))
                batch = pa.record_batch(list(arrays), names=list(names))
            tables = []
            for _ in range(2 if path == "twice" else 1):
                if lines:
                    array, schema = adbc_driver_manager.ArrowArrayHandle(), adbc_driver_manager.ArrowSchemaHandle()
                    batch._export_to_c(array.address, schema.address)
                    statement.bind(array, schema)
                stream, _ = statement.execute_query()
                tables.append(pa.RecordBatchReader._import_from_c(stream.address).read_all())
            if len(tables) == 2 and not varies and not tables[0].equals(tables[1]) and rows(tables[0]) != rows(tables[1]):
                raise ValueError("executed a second time it gives other rows")
        finally:
            statement.close()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, tables[0].schema) as writer:
            writer.write_table(tables[0])
        return {"ipc": base64.b64encode(sink.getvalue().to_pybytes()).decode()}


def rows(table):
    """The rows as Arrow writes them, sorted: Python has no dates before the year 1."""
    table = table.combine_chunks()
    return sorted("\0".join(c.slice(i, 1).to_string() for c in table.columns) for i in range(table.num_rows))


def failed(error):
    text = str(error)
    found = re.search(r"\b(Canceled|InvalidArgument|DeadlineExceeded|NotFound|AlreadyExists|PermissionDenied|ResourceExhausted|FailedPrecondition|Aborted|"
                      r"OutOfRange|Unimplemented|Internal|Unavailable|DataLoss|Unauthenticated|Unknown);", text)
    return {"error": {"code": found.group(1) if found else "Unknown", "message": text}}


def main():
    hello = json.loads(sys.stdin.readline())
    print(json.dumps({"name": "adbc-python"}), flush=True)
    sessions = {}
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"ok": True}
        try:
            name = request["session"]
            if request["do"] == "open":
                sessions[name] = Session(hello)
            elif request["do"] == "close":
                sessions.pop(name).close()
            elif request["do"] == "effect":
                sessions[name].effect(request["path"], request["sql"])
            else:
                answer = sessions[name].ask(request["path"], request["sql"], request.get("args") or [], request.get("varies"))
        except Exception as error:  # whatever the client raises is what it answers
            answer = failed(error)
        answer["id"] = request["id"]
        print(json.dumps(answer), flush=True)


main()
