/** A broker of Apache Kafka that a program starts: it ends with the process of the program. Maven brings its jars, once. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  /** A new topic. It takes a record when this number of brokers have it. */
  topic(partitions: number, copies?: number): Promise<string>;
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
  try {
    renameSync(fresh, libs);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(libs)) throw error;
    rmSync(fresh, { recursive: true });
  }
  return `${libs}/*`;
}

interface Cluster {
  readonly id: string;
  readonly brokers: number;
  /** Port of the first broker, the only controller. */
  readonly controller: number;
}

/** Brokers of one cluster. All but the first one may be stopped. */
export async function startBrokers(count: number): Promise<readonly [Broker, ...Broker[]]> {
  const cluster = await newCluster(count);
  const first = await startBroker({ cluster });
  const others = Array.from({ length: count - 1 }, (_, at) => startBroker({ cluster, node: at + 2 }));
  return [first, ...(await Promise.all(others))];
}

async function newCluster(brokers: number): Promise<Cluster> {
  return { brokers, id: randomBytes(16).toString('base64url'), controller: await freePort() };
}

interface BrokerOptions {
  /** An empty folder for its records. Omitted to use a separate one. */
  readonly data?: string;
  readonly cluster?: Cluster;
  readonly node?: number;
  /** Adds a listener that takes this login over TLS, by PLAIN and both mechanisms of SCRAM. */
  readonly login?: Login;
}

interface Login {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** PEM, for 127.0.0.1. */
  readonly key: string;
  readonly certificate: string;
}

/** Further properties for the listener of the login. */
function loginProperties({ user, password, key, certificate }: Login): { readonly [name: string]: string } {
  const own = 'listener.name.login';
  const login = (mechanism: string, more = ''): string =>
    `org.apache.kafka.common.security.${mechanism}LoginModule required username="broker" password="none"${more};`;
  const oneLine = (pem: string): string => pem.trim().replaceAll('\n', String.raw`\n`);
  return {
    [`${own}.sasl.enabled.mechanisms`]: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    [`${own}.plain.sasl.jaas.config`]: login('plain.Plain', ` user_${user}="${password}"`),
    [`${own}.scram-sha-256.sasl.jaas.config`]: login('scram.Scram'),
    [`${own}.scram-sha-512.sasl.jaas.config`]: login('scram.Scram'),
    [`${own}.ssl.keystore.type`]: 'PEM',
    [`${own}.ssl.keystore.key`]: oneLine(key),
    [`${own}.ssl.keystore.certificate.chain`]: oneLine(certificate),
  };
}

export async function startBroker({ data, cluster, node = 1, login }: BrokerOptions = {}): Promise<Broker> {
  const classes = jars();
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-kafka-'));
  const port = await freePort();
  const { id, brokers, controller } = cluster ?? (await newCluster(1));
  const own = `${login === undefined ? '' : `,LOGIN://127.0.0.1:${login.port}`}${node === 1 ? `,CONTROLLER://127.0.0.1:${controller}` : ''}`;
  const properties = join(folder, 'server.properties');
  writeFileSync(
    properties,
    Object.entries({
      'process.roles': node === 1 ? 'broker,controller' : 'broker',
      'node.id': node,
      'controller.quorum.bootstrap.servers': `127.0.0.1:${controller}`,
      listeners: `PLAINTEXT://127.0.0.1:${port}${own}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}${own}`,
      'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LOGIN:SASL_SSL',
      'inter.broker.listener.name': 'PLAINTEXT',
      'controller.listener.names': 'CONTROLLER',
      'log.dirs': data ?? join(folder, 'data'),
      'offsets.topic.replication.factor': brokers,
      'offsets.topic.num.partitions': 4,
      'transaction.state.log.replication.factor': 1,
      'transaction.state.log.min.isr': 1,
      'share.coordinator.state.topic.replication.factor': 1,
      'share.coordinator.state.topic.min.isr': 1,
      'group.initial.rebalance.delay.ms': 0,
      'auto.create.topics.enable': false,
      ...(login === undefined ? {} : loginProperties(login)),
    })
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const words = ['-cp', classes, 'kafka.tools.StorageTool', 'format', `--cluster-id=${id}`, '-c', properties];
  const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) =>
    login === undefined ? [] : ['--add-scram', `${mechanism}=[name=${login.user},password=${login.password}]`],
  );
  const formatted = spawnSync('java', [...words, ...users, ...(node === 1 ? ['--standalone'] : [])], { encoding: 'utf8' });
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
    async topic(partitions, copies = 1) {
      const configs = { 'max.message.bytes': '20000000', 'min.insync.replicas': String(copies) };
      const name = `spans-${randomBytes(4).toString('hex')}`;
      const admin = new Admin({ clientId: 'test', bootstrapBrokers: [address] });
      await admin.createTopics({
        topics: [name],
        partitions,
        replicas: copies,
        configs: Object.entries(configs).map(([config, value]) => ({ name: config, value })),
      });
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
      shell = undefined;
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
