import java.io.File;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * Lets a metastore make and test the folders of tables in an object store without that store, and a REST fixture read metadata: a location is the file of its
 * name below the folder that the system property skua.shadow names.
 */
public class ShadowStore extends RawLocalFileSystem {
  private URI root;

  @Override
  public void initialize(URI location, Configuration settings) {
    root = URI.create(location.getScheme() + "://" + location.getAuthority());
    setConf(settings);
    statistics = getStatistics(root.getScheme(), getClass());
    pathToFile(new Path(root + "/")).mkdirs();
  }

  @Override
  public URI getUri() {
    return root == null ? URI.create("file:///") : root; // asked for before initialize
  }

  @Override
  protected void checkPath(Path location) {}

  @Override
  public File pathToFile(Path location) {
    URI of = location.toUri();
    File store = new File(System.getProperty("skua.shadow"), root.getScheme() + "-" + root.getAuthority());
    return new File(store, of.getPath());
  }
}
