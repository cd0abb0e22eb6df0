import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.api.ThriftHiveMetastore;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;

/** A Hive 3 metastore at one address: its own main listens on all of them. The arguments are the host and the port. */
public class LoopbackMetastore {
  public static void main(String[] arguments) throws Exception {
    InetSocketAddress address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    Configuration settings = MetastoreConf.newMetastoreConf();
    // This one makes the default catalog and database at its first use.
    ThriftHiveMetastore.Iface calls = RetryingHMSHandler.getProxy(settings, new HiveMetaStore.HMSHandler("loopback", settings, false), false);
    TServer server = new TThreadPoolServer(new TThreadPoolServer.Args(new TServerSocket(address)).processor(new ThriftHiveMetastore.Processor<>(calls)));
    server.serve();
  }
}
