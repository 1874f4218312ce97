/** A broker of Apache Kafka that a program starts: it ends with the process of the program. Maven brings its jars, once. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka';
import { eventually } from '../service/running.ts';
import { freePort } from './free-port.ts';

const version = '4.2.0';
const cache = join(import.meta.dirname, '../../node_modules/.cache', `kafka-${version}`);
const heapMebibytes = 384;

export interface Broker {
  /** `host:port`. */
  readonly address: string;
  /** A new topic. */
  topic(partitions: number): Promise<string>;
  /** The most bytes of a record of the topic from now on, compressed. */
  bound(topic: string, recordBytes: number): Promise<void>;
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Over the same data. */
  start(): Promise<void>;
}

/** The broker of this process. */
export function kafkaBroker(): Promise<Broker> {
  return (broker ??= startBroker());
}

let broker: Promise<Broker> | undefined;

function jars(): string {
  const libs = join(cache, 'libs');
  if (existsSync(libs)) return `${libs}/*`;
  mkdirSync(cache, { recursive: true });
  const pom = join(cache, 'pom.xml');
  writeFileSync(
    pom,
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${version}</version></dependency></dependencies></project>`,
  );
  const fresh = join(cache, `libs-${process.pid}`);
  const { status, stdout, error } = spawnSync(
    'mvn',
    ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${fresh}`],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0)
    throw new Error(`The jars of Kafka cannot be had. Install the packages maven and default-jre-headless. ${error?.message ?? stdout}`);
  renameSync(fresh, libs);
  return `${libs}/*`;
}

/** `data`: an empty folder for its records. Absent: one of its own. */
export async function startBroker({ data }: { readonly data?: string } = {}): Promise<Broker> {
  const classes = jars();
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-kafka-'));
  const [port, controller] = [await freePort(), await freePort()];
  const properties = join(folder, 'server.properties');
  writeFileSync(
    properties,
    Object.entries({
      'process.roles': 'broker,controller',
      'node.id': 1,
      'controller.quorum.bootstrap.servers': `127.0.0.1:${controller}`,
      listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
      'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      'inter.broker.listener.name': 'PLAINTEXT',
      'controller.listener.names': 'CONTROLLER',
      'log.dirs': data ?? join(folder, 'data'),
      'offsets.topic.replication.factor': 1,
      'offsets.topic.num.partitions': 4,
      'transaction.state.log.replication.factor': 1,
      'transaction.state.log.min.isr': 1,
      'share.coordinator.state.topic.replication.factor': 1,
      'share.coordinator.state.topic.min.isr': 1,
      'group.initial.rebalance.delay.ms': 0,
      'auto.create.topics.enable': false,
    })
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const id = randomBytes(16).toString('base64url');
  const formatted = spawnSync(
    'java',
    ['-cp', classes, 'kafka.tools.StorageTool', 'format', `--cluster-id=${id}`, '-c', properties, '--standalone'],
    {
      encoding: 'utf8',
    },
  );
  if (formatted.status !== 0) throw new Error(`The broker cannot make its data. ${formatted.error?.message ?? formatted.stderr}`);
  let shell: ChildProcess | undefined;

  async function start(): Promise<void> {
    // The shell ends the broker when the process of the program is gone, however that ended.
    const script = `java -Xmx${heapMebibytes}m -cp '${classes}' kafka.Kafka '${properties}' >>'${folder}/log' 2>&1 &
      read -r signal; kill -\${signal:-KILL} $!; wait $!`;
    shell = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] });
    shell.unref();
    await eventually(() => answers(port), 'a broker of Kafka', { everyMs: 100, looksMax: 600 });
  }

  await start();
  const address = `127.0.0.1:${port}`;
  return {
    address,
    async topic(partitions) {
      const name = `spans-${randomBytes(4).toString('hex')}`;
      const admin = new Admin({ clientId: 'test', bootstrapBrokers: [address] });
      await admin.createTopics({ topics: [name], partitions, replicas: 1, configs: [{ name: 'max.message.bytes', value: '20000000' }] });
      await admin.close();
      return name;
    },
    async bound(topic, recordBytes) {
      const admin = new Admin({ clientId: 'test', bootstrapBrokers: [address] });
      await admin.incrementalAlterConfigs({
        resources: [
          {
            resourceType: ConfigResourceTypes.TOPIC,
            resourceName: topic,
            configs: [{ name: 'max.message.bytes', configOperation: IncrementalAlterConfigOperationTypes.SET, value: String(recordBytes) }],
          },
        ],
      });
      await admin.close();
    },
    async stop(signal = 'SIGTERM') {
      const ending = shell;
      if (ending === undefined) return;
      const exit = once(ending, 'exit');
      ending.stdin?.end(`${signal.slice('SIG'.length)}\n`);
      await exit;
    },
    start,
  };
}

async function answers(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
