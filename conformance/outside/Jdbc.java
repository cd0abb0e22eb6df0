import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.*;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.*;

/** Holds sessions with a Flight SQL server through Arrow's JDBC driver and asks what package outside says, a JSON object a line. */
public class Jdbc {
  static Map<String, Object> hello;
  static final Map<String, Connection> sessions = new HashMap<>();
  static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] args) throws Exception {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    hello = object(in.readLine());
    out.println("{\"name\":\"jdbc\"}");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Map<String, Object> request = object(line);
      String answer;
      try {
        answer = answer(request);
      } catch (Throwable e) {
        answer = "\"error\":{\"code\":" + quote(code(e)) + ",\"message\":" + quote(messages(e)) + "}";
      }
      out.println("{\"id\":" + ((Number) request.get("id")).longValue() + "," + answer + "}");
    }
  }

  static String answer(Map<String, Object> request) throws Exception {
    String name = (String) request.get("session");
    switch ((String) request.get("do")) {
      case "open": sessions.put(name, connect()); return "\"ok\":true";
      case "close": sessions.remove(name).close(); return "\"ok\":true";
      case "effect": effect(sessions.get(name), (String) request.get("path"), (String) request.get("sql")); return "\"ok\":true";
      default: return ask(sessions.get(name), request);
    }
  }

  static Connection connect() throws Exception {
    String uri = (String) hello.get("uri");
    boolean tls = uri.startsWith("grpc+tls://");
    StringBuilder url = new StringBuilder("jdbc:arrow-flight-sql://" + uri.substring(uri.indexOf("://") + 3) + "/?useEncryption=" + tls);
    if (tls && !((String) hello.get("tls_roots")).isEmpty()) url.append("&useSystemTrustStore=false&tlsRootCerts=").append(hello.get("tls_roots"));
    Properties p = new Properties();
    if (!((String) hello.get("user")).isEmpty()) {
      p.setProperty("user", (String) hello.get("user"));
      p.setProperty("password", (String) hello.get("password"));
    }
    return DriverManager.getConnection(url.toString(), p);
  }

  static void effect(Connection c, String path, String sql) throws SQLException {
    if (path.equals("prepared") || path.equals("twice")) {
      try (PreparedStatement s = c.prepareStatement(sql)) {
        s.executeUpdate();
        if (path.equals("twice")) s.executeUpdate();
      }
      return;
    }
    try (Statement s = c.createStatement()) {
      if (path.equals("update")) s.executeUpdate(sql); else s.execute(sql);
    }
  }

  static String ask(Connection c, Map<String, Object> request) throws Exception {
    String path = (String) request.get("path"), sql = (String) request.get("sql");
    List<?> args = request.get("args") == null ? List.of() : (List<?>) request.get("args");
    if (!path.equals("prepared") && !path.equals("twice") && args.isEmpty()) {
      try (Statement s = c.createStatement()) {
        if (!s.execute(sql)) return "\"update\":true";
        try (ResultSet r = s.getResultSet()) { return rows(r); }
      }
    }
    try (PreparedStatement s = c.prepareStatement(sql)) {
      bind(s, args);
      String first = run(s);
      if (!path.equals("twice")) return first;
      bind(s, args);
      String second = run(s);
      if (first.length() != second.length() && !Boolean.TRUE.equals(request.get("varies"))) throw new IllegalStateException("executed a second time it gives other rows");
      return first;
    }
  }

  static String run(PreparedStatement s) throws Exception {
    if (!s.execute()) return "\"update\":true";
    try (ResultSet r = s.getResultSet()) { return rows(r); }
  }

  static void bind(PreparedStatement s, List<?> args) throws SQLException {
    for (int i = 0; i < args.size(); i++) {
      String line = (String) args.get(i);
      int at = line.indexOf(' ');
      String word = at < 0 ? line : line.substring(0, at), text = at < 0 ? "" : line.substring(at + 1);
      int n = i + 1;
      if (text.equals("NULL") || word.equals("void")) { s.setNull(n, Types.NULL); continue; }
      switch (word) {
        case "boolean": s.setBoolean(n, text.equals("true")); break;
        case "int": s.setInt(n, Integer.parseInt(text)); break;
        case "bigint": s.setLong(n, Long.parseLong(text)); break;
        case "float": s.setFloat(n, Float.parseFloat(text)); break;
        case "double": s.setDouble(n, Double.parseDouble(text)); break;
        case "binary": s.setBytes(n, Base64.getDecoder().decode(text)); break;
        case "date": s.setDate(n, java.sql.Date.valueOf(text)); break;
        case "timestamp": s.setTimestamp(n, Timestamp.from(Instant.parse(text))); break;
        case "timestamp_ntz": s.setTimestamp(n, Timestamp.valueOf(LocalDateTime.parse(text))); break;
        case "string": s.setString(n, text); break;
        default: s.setBigDecimal(n, new BigDecimal(text));
      }
    }
  }

  static String rows(ResultSet r) throws Exception {
    ResultSetMetaData m = r.getMetaData();
    int n = distinct(m);
    StringBuilder columns = new StringBuilder(), rows = new StringBuilder();
    for (int i = 1; i <= n; i++) columns.append(i > 1 ? "," : "").append(quote(m.getColumnLabel(i)));
    for (boolean first = true; r.next(); first = false) {
      rows.append(first ? "[" : ",[");
      for (int i = 1; i <= n; i++) rows.append(i > 1 ? "," : "").append(quote(cell(r.getObject(i), m.getColumnTypeName(i))));
      rows.append("]");
    }
    return "\"columns\":[" + columns + "],\"rows\":[" + rows + "]";
  }

  /** Counts the columns. Of a result without rows driver 18.3 tells every column twice. */
  static int distinct(ResultSetMetaData m) throws SQLException {
    int n = m.getColumnCount();
    if (n % 2 != 0) return n;
    for (int i = 1; i <= n / 2; i++) if (!m.getColumnLabel(i).equals(m.getColumnLabel(i + n / 2))) return n;
    return n / 2;
  }

  static final DateTimeFormatter SECONDS = new DateTimeFormatterBuilder().appendPattern("yyyy-MM-dd'T'HH:mm:ss").appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true).toFormatter();

  /** Spells a value as scripts do. */
  static String cell(Object v, String type) throws Exception {
    if (v == null) return "NULL";
    if (v instanceof byte[]) return Base64.getEncoder().encodeToString((byte[]) v);
    if (v instanceof BigDecimal) return ((BigDecimal) v).toPlainString();
    if (v instanceof Timestamp) {
      LocalDateTime t = LocalDateTime.ofInstant(((Timestamp) v).toInstant(), ZoneOffset.UTC);
      return SECONDS.format(t) + (type.contains("TIMEZONE") || type.contains("TIME ZONE") ? "Z" : "");
    }
    if (v instanceof Double || v instanceof Float) return number(((Number) v).doubleValue(), v.toString());
    if (v instanceof String) {
      String s = (String) v;
      return s.isEmpty() || s.equals("NULL") ? "\"" + s + "\"" : s.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }
    return v.toString();
  }

  /** Spells a float as Go does: no trailing .0, exponents as e+NN. */
  static String number(double d, String shortest) {
    if (Double.isNaN(d)) return "NaN";
    if (Double.isInfinite(d)) return d > 0 ? "+Inf" : "-Inf";
    double size = Math.abs(d);
    BigDecimal exact = new BigDecimal(shortest);
    if (d == 0) return 1 / d < 0 ? "-0" : "0";
    if (size >= 1e21 || size < 1e-6) {
      String digits = exact.unscaledValue().abs().toString().replaceAll("0+$", "");
      if (digits.isEmpty()) digits = "0";
      int exponent = exact.precision() - exact.scale() - 1;
      return (d < 0 ? "-" : "") + digits.charAt(0) + (digits.length() > 1 ? "." + digits.substring(1) : "") + "e" + (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }
    return exact.stripTrailingZeros().toPlainString();
  }

  /** Finds the code of Flight's error underneath; the driver shades its classes, so they are asked by reflection. */
  static String code(Throwable e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      try {
        Object status = t.getClass().getMethod("status").invoke(t);
        return status.getClass().getMethod("code").invoke(status).toString();
      } catch (ReflectiveOperationException next) {
        if (t.getCause() == t) break;
      }
    }
    return "Unknown";
  }

  static String messages(Throwable e) {
    StringBuilder text = new StringBuilder();
    for (Throwable t = e; t != null && t.getCause() != t; t = t.getCause()) text.append(t.getMessage()).append('\n');
    return text.toString();
  }

  static String quote(String s) {
    StringBuilder q = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') q.append('\\').append(c);
      else if (c < 0x20 || Character.isSurrogate(c) || c == 0x2028 || c == 0x2029) q.append(String.format("\\u%04x", (int) c));
      else q.append(c);
    }
    return q.append('"').toString();
  }

  // A reader of JSON that takes what the other side writes.
  static String text;
  static int at;

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(String line) {
    text = line;
    at = 0;
    return (Map<String, Object>) value();
  }

  static char skip() {
    while (Character.isWhitespace(text.charAt(at))) at++;
    return text.charAt(at);
  }

  static Object value() {
    switch (skip()) {
      case '{':
        Map<String, Object> map = new HashMap<>();
        for (at++; skip() != '}'; ) {
          if (text.charAt(at) == ',') { at++; skip(); }
          String key = string();
          skip();
          at++;
          map.put(key, value());
        }
        at++;
        return map;
      case '[':
        List<Object> list = new ArrayList<>();
        for (at++; skip() != ']'; ) {
          if (text.charAt(at) == ',') at++;
          list.add(value());
        }
        at++;
        return list;
      case '"': return string();
      default:
        int from = at;
        while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) at++;
        String word = text.substring(from, at);
        return word.equals("null") ? null : word.equals("true") ? Boolean.TRUE : word.equals("false") ? Boolean.FALSE : (Object) Double.valueOf(word);
    }
  }

  static String string() {
    StringBuilder s = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      char c = text.charAt(at);
      if (c != '\\') { s.append(c); continue; }
      c = text.charAt(++at);
      switch (c) {
        case 'n': s.append('\n'); break;
        case 't': s.append('\t'); break;
        case 'r': s.append('\r'); break;
        case 'b': s.append('\b'); break;
        case 'f': s.append('\f'); break;
        case 'u': s.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16)); at += 4; break;
        default: s.append(c);
      }
    }
    at++;
    return s.toString();
  }
}
