import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** A name node and a data node in one process on loopback; the arguments are a folder, a host and the name node's port. */
public class MiniCluster {
  public static void main(String[] arguments) throws Exception {
    Configuration settings = new HdfsConfiguration();
    settings.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, arguments[0]);
    settings.set("dfs.namenode.rpc-bind-host", arguments[1]);
    settings.set("dfs.namenode.http-bind-host", arguments[1]);
    settings.setBoolean("dfs.permissions.enabled", false);
    settings.setInt("dfs.replication", 1);
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(settings)
            .nameNodePort(Integer.parseInt(arguments[2]))
            .numDataNodes(1)
            .format(!new File(arguments[0], "name-0-1").exists())
            .build();
    cluster.waitActive();
    System.out.println("ready");
    new java.util.concurrent.CountDownLatch(1).await();
  }
}
