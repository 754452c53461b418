import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.configuration.ssl.ClientAuth;
import org.neo4j.configuration.ssl.SslPolicyConfig;
import org.neo4j.configuration.ssl.SslPolicyScope;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.io.ByteUnit;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/**
 * Runs a Neo4j in a folder on a free loopback port, prints its URI and lives until its standard input ends: so it dies with
 * the test run. Arguments: folder, password of the user neo4j (none: no authentication), folder with private.key and
 * public.crt (none: no TLS; with them clients may encrypt).
 */
public final class Neo4jForTests {
    public static void main(String[] arguments) throws Exception {
        String password = arguments.length > 1 ? arguments[1] : "";
        DatabaseManagementServiceBuilder builder = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", 0))
                .setConfig(GraphDatabaseSettings.auth_enabled, !password.isEmpty())
                .setConfig(GraphDatabaseSettings.pagecache_memory, ByteUnit.mebiBytes(64))
                .setConfig(GraphDatabaseSettings.keep_logical_logs, "keep_none");
        if (Boolean.getBoolean("keep.plans")) {
            builder.setConfig(GraphDatabaseSettings.cypher_min_replan_interval, Duration.ofDays(1));
        }
        if (arguments.length > 2) {
            SslPolicyConfig policy = SslPolicyConfig.forScope(SslPolicyScope.BOLT);
            builder.setConfig(policy.enabled, true)
                    .setConfig(policy.base_directory, Path.of(arguments[2]))
                    .setConfig(policy.client_auth, ClientAuth.NONE)
                    .setConfig(BoltConnector.encryption_level, BoltConnector.EncryptionLevel.OPTIONAL);
        }
        DatabaseManagementService server = builder.build();
        try {
            if (!password.isEmpty()) {
                String change = "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED";
                server.database("system").executeTransactionally(change, Map.of("password", password));
            }
            GraphDatabaseAPI database = (GraphDatabaseAPI) server.database("neo4j");
            ConnectorPortRegister ports = database.getDependencyResolver().resolveDependency(ConnectorPortRegister.class);
            System.out.println("bolt://127.0.0.1:" + ports.getLocalAddress(ConnectorType.BOLT).getPort());
            while (System.in.read() >= 0) {
                // nothing is said to it: only the end of its input matters
            }
        } finally {
            server.shutdown();
        }
    }
}
