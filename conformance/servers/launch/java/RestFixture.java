package org.apache.iceberg.rest;

import java.io.FileReader;
import java.io.Reader;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Iceberg's REST test fixture at one address, over the catalog of a file of properties. The arguments are the host, the port and the file. */
public class RestFixture {
  public static void main(String[] arguments) throws Exception {
    Properties file = new Properties();
    try (Reader text = new FileReader(arguments[2])) {
      file.load(text);
    }
    Map<String, String> properties = new TreeMap<>();
    file.stringPropertyNames().forEach(name -> properties.put(name, file.getProperty(name)));

    RESTCatalogServer.CatalogContext behind =
        new RESTCatalogServer.CatalogContext(CatalogUtil.buildIcebergCatalog("fixture", properties, new Configuration()), properties);
    ServletContextHandler paths = new ServletContextHandler();
    paths.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTServerCatalogAdapter(behind))), "/*");

    Server server = new Server();
    ServerConnector socket = new ServerConnector(server);
    socket.setHost(arguments[0]);
    socket.setPort(Integer.parseInt(arguments[1]));
    server.addConnector(socket);
    server.setHandler(paths);
    server.start();
    server.join();
  }
}
