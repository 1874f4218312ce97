/** The files for several machines and for Kubernetes agree with each other and with what the program accepts. Nothing here needs a container engine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { evaluators } from '../../evaluators/index.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { kafkaAddress } from '../../src/journals/kafka/address.ts';
import { quantityOf } from '../../src/model/quantities.ts';
import { metricRows } from '../../src/telemetry/metrics.ts';
import { openConsole } from '../builders/console-listener.ts';
import { validators } from '../builders/validators.ts';

interface Composed {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: { readonly [name: string]: string };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | { readonly [name: string]: unknown };
  readonly deploy?: { readonly replicas: number };
  readonly mem_limit?: string;
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: { readonly [name: string]: Composed };
  readonly volumes: { readonly [name: string]: null };
}

interface CollectorConfig {
  readonly receivers: { readonly otlp: { readonly protocols: { readonly [protocol: string]: { readonly endpoint: string } } } };
  readonly exporters: {
    readonly kafka: { readonly brokers: readonly string[]; readonly partition_traces_by_id: boolean; readonly traces: { readonly topic: string; readonly encoding: string } };
    readonly [http: `otlp_http/${string}`]: { readonly endpoint: string };
  };
  readonly service: { readonly pipelines: { readonly [signal: string]: { readonly exporters: readonly string[] } } };
}

interface Variable {
  readonly name: string;
  readonly valueFrom: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests: { readonly memory: string }; readonly limits: { readonly memory: string; readonly cpu?: string } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Deployment<Part> {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly type: string };
    readonly template: { readonly spec: { readonly terminationGracePeriodSeconds?: number; readonly containers: readonly Part[]; readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[] } };
  };
}

interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly behavior?: string; readonly files: readonly string[] }[];
  readonly patches?: readonly { readonly path: string }[];
  readonly labels?: readonly { readonly pairs: { readonly [name: string]: string } }[];
}

const { version } = JSON.parse(text('package.json')) as { readonly version: string };
const grace = Number(/`terminationGracePeriodSeconds: (\d+)`/.exec(text('docs/guides/operations.md'))?.[1]);
const dockerfile = text('docker/Dockerfile');
const workingFolder = /^WORKDIR (\S+)$/gm.exec(dockerfile.slice(dockerfile.lastIndexOf('FROM')))?.[1];
const served = JSON.parse(/^CMD (.+)$/m.exec(dockerfile.slice(dockerfile.lastIndexOf('ENTRYPOINT')))?.[1] ?? '[]') as readonly string[];
const compose = read<Compose>('docker/compose.many.yml');
const collector = read<CollectorConfig>('docker/collector.many.yaml');
const services = Object.entries(compose.services);
const kubernetes = 'docker/kubernetes';
const base = read<Deployment<Container>>(`${kubernetes}/base/deployment.yaml`);
const patch = read<Deployment<Pick<Container, 'name' | 'env'>>>(`${kubernetes}/many/replicas.yaml`);
const [container] = base.spec.template.spec.containers as [Container];

const configs: readonly { readonly file: string; readonly env: readonly string[]; readonly memory: string; readonly journal: string; readonly store: string }[] = [
  { file: 'docker/many.yaml', env: Object.keys(compose.services['tracejury']?.environment ?? {}), memory: compose.services['tracejury']?.mem_limit ?? '', journal: 'kafka', store: 'postgres' },
  { file: `${kubernetes}/base/config.yaml`, env: namesOf(container.env), memory: container.resources.limits.memory, journal: 'disk', store: 'sqlite' },
  {
    file: `${kubernetes}/many/config.yaml`,
    env: [...namesOf(container.env), ...patch.spec.template.spec.containers.flatMap(({ env }) => namesOf(env))],
    memory: container.resources.limits.memory,
    journal: 'kafka',
    store: 'postgres',
  },
];

describe('configurations', () => {
  test.each(configs)('$file: the program accepts it, with the journal and the store that it is for', ({ file, journal, store }) => {
    const { config, warnings } = loaded(file);
    expect(warnings).toEqual([]);
    expect([config.journal.scheme, config.store.address.scheme]).toEqual([journal, store]);
  });

  test.each(configs)('$file: its container has the variables that it reads, and no others', ({ file, env }) => {
    expect(new Set(env)).toEqual(new Set(variablesIn(file)));
  });

  test.each(configs)('$file: its container has limits.memory_bytes and a tenth', ({ file, memory }) => {
    const wanted = loaded(file).config.limits.memoryBytes * 1.1;
    const given = bytesOf(memory);
    expect(given).toBeGreaterThanOrEqual(wanted);
    expect(given).toBeLessThan(wanted * 1.01);
  });

  test.each(configs)('$file: agents and people without a token come in only where ports stay on loopback', ({ file }) => {
    const { listen } = loaded(file).config;
    expect(listen.insecure).toBe(file === 'docker/many.yaml');
    if (!listen.insecure) expect(new Set(listen.tokens.flatMap(({ may }) => [...may]))).toEqual(new Set(['ingest', 'read', 'annotate', 'operate']));
  });
});

describe('compose.many', () => {
  test.each(services)('%s: the image is pinned to a version', (name, { image, build }) => {
    expect(image).toMatch(/:(version-)?\d+\.\d+(\.\d+)?(@sha256:[0-9a-f]{64})?$/);
    expect(image === `tracejury:${version}`).toBe(build !== undefined);
    expect(build !== undefined).toBe(name === 'tracejury' || name === 'topic');
  });

  test.each(services)('%s: ports are published on loopback only', (_name, { ports = [] }) => {
    expect(ports.filter((port) => !/^127\.0\.0\.1:\d+(-\d+)?:\d+$/.test(port))).toEqual([]);
  });

  test.each(services)('%s: what is mounted, built or depended on exists', (_name, service) => {
    const sources = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    expect(sources.filter((source) => (source.startsWith('./') ? !existsSync(join('docker', source)) : !Object.hasOwn(compose.volumes, source)))).toEqual([]);
    if (service.build !== undefined) expect(existsSync(join('docker', service.build.context, service.build.dockerfile))).toBe(true);
    const needed = Array.isArray(service.depends_on) ? (service.depends_on as readonly string[]) : Object.keys(service.depends_on ?? {});
    expect(needed.filter((name) => !Object.hasOwn(compose.services, name))).toEqual([]);
  });

  test('each of three replicas has a port for its console, and the time to stop that the documentation asks for', () => {
    const { ports = [], deploy, stop_grace_period: given } = compose.services['tracejury'] ?? {};
    const [, first, last, inside] = /^127\.0\.0\.1:(\d+)-(\d+):(\d+)$/.exec(ports[0] ?? '') ?? [];
    expect(deploy?.replicas).toBe(3);
    expect(Number(last) - Number(first) + 1).toBe(3);
    expect(Number(inside)).toBe(loaded('docker/many.yaml').config.listen.console.port);
    expect(given).toBe(`${grace}s`);
  });

  test('the replicas find the broker and the database in the file', () => {
    const { config } = loaded('docker/many.yaml');
    const [broker] = kafkaAddress(config.journal.rest)?.brokers ?? [];
    expect(broker).toBe(`kafka:${portOf(compose.services['kafka']?.environment?.['KAFKA_ADVERTISED_LISTENERS'] ?? '')}`);
    const { hostname, username, pathname } = new URL(`postgres:${config.store.address.rest}`);
    const { POSTGRES_USER: user, POSTGRES_DB: database } = compose.services['postgres']?.environment ?? {};
    expect([hostname, username, pathname]).toEqual(['postgres', user, `/${database}`]);
  });

  test('the Collector writes one trace a record to the topic of the replicas, and sends to services of the file', () => {
    const { listen, journal } = loaded('docker/many.yaml').config;
    const address = kafkaAddress(journal.rest);
    const { kafka, ...others } = collector.exporters;
    expect(kafka).toEqual({ brokers: address?.brokers, partition_traces_by_id: true, traces: { topic: address?.topic, encoding: 'otlp_proto' } });
    const sent = Object.values(others).map(({ endpoint }) => new URL(endpoint));
    expect(sent.filter(({ hostname }) => !Object.hasOwn(compose.services, hostname))).toEqual([]);
    expect(sent.find(({ hostname }) => hostname === 'tracejury')?.port).toBe(String(listen.otlpHttp.port));
    const used = Object.values(collector.service.pipelines).flatMap(({ exporters }) => exporters);
    expect(new Set(used)).toEqual(new Set(Object.keys(collector.exporters)));
    const listening = Object.values(collector.receivers.otlp.protocols).map(({ endpoint }) => portOf(endpoint));
    expect(new Set(listening)).toEqual(new Set((compose.services['collector']?.ports ?? []).map(portOf)));
  });
});

describe('kafka init', () => {
  const commented = /kafka (init .+?) -c /.exec(text(`${kubernetes}/many/kustomization.yaml`))?.[1]?.split(' ') ?? [];
  const composed = compose.services['topic']?.command ?? [];
  test.each([
    { from: 'compose.many.yml', args: composed.slice(1, -2), file: 'docker/many.yaml' },
    { from: 'kubernetes/many/kustomization.yaml', args: commented, file: `${kubernetes}/many/config.yaml` },
  ])('$from: the command shows the topic that it would make, with a partition for each replica', ({ args, file }) => {
    expect(args).toContain('--yes');
    const said = execFileSync(process.execPath, ['src/cli/main.ts', 'kafka', ...args.filter((arg) => arg !== '--yes'), '-c', file], { encoding: 'utf8', env: { ...process.env, ...secretsOf(file) } });
    expect(said).toContain('Partitions   12:');
    expect(said).toContain('Nothing was made.');
  });

  test('the replicas that scaling may start have partitions', () => {
    const { spec } = read<{ readonly spec: { readonly maxReplicas: number } }>(`${kubernetes}/many/scaling.yaml`);
    expect(Number(commented[commented.indexOf('--partitions') + 1])).toBeGreaterThanOrEqual(spec.maxReplicas);
    expect(composed).toContain(String(spec.maxReplicas));
  });
});

describe('kubernetes', () => {
  test.each(['base', 'many'])('%s: what the kustomization names exists', (name) => {
    const folder = join(kubernetes, name);
    const { resources, configMapGenerator, patches = [] } = read<Kustomization>(join(folder, 'kustomization.yaml'));
    const named = [...resources, ...configMapGenerator.flatMap(({ files }) => files), ...patches.map(({ path }) => path)];
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
    expect(configMapGenerator.map((one) => one.name)).toEqual(['tracejury']);
  });

  test('the container is the image of this release, with its command, its working folder and its configuration', () => {
    expect(container.image).toBe(`tracejury:${version}`);
    expect(container.args).toEqual(served);
    const { data, config } = Object.fromEntries(container.volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
    expect(data).toBe(workingFolder);
    expect(container.args).toContain(`${config}/config.yaml`);
  });

  test.each(['base', 'many'])('%s: the ports of the container and of the service are those of the listeners', (name) => {
    const { otlpGrpc, otlpHttp, console } = loaded(`${kubernetes}/${name}/config.yaml`).config.listen;
    expect(Object.fromEntries(container.ports.map((port) => [port.name, port.containerPort]))).toEqual({ 'otlp-grpc': otlpGrpc.port, 'otlp-http': otlpHttp.port, console: console.port });
    const { spec } = read<{ readonly spec: { readonly ports: readonly { readonly port: number; readonly targetPort: string }[] } }>(`${kubernetes}/base/service.yaml`);
    expect(spec.ports.map(({ port, targetPort }) => ({ name: targetPort, containerPort: port }))).toEqual(container.ports);
  });

  test.each([
    { probe: container.livenessProbe, whenNotReady: 200 },
    { probe: container.readinessProbe, whenNotReady: 503 },
  ])('the console answers $probe.httpGet.path without a token', async ({ probe, whenNotReady }) => {
    expect(probe.httpGet.port).toBe('console');
    for (const [notReady, status] of [[undefined, 200], ['The broker is away.', whenNotReady]] as const) {
      const { url, listener } = await openConsole({ tokens: loaded(`${kubernetes}/base/config.yaml`).config.listen.tokens, notReady: () => notReady });
      expect((await fetch(`${url}/api/v1/runs`)).status).toBe(401);
      expect((await fetch(`${url}${probe.httpGet.path}`)).status).toBe(status);
      await listener.stop();
    }
  });

  test('a stop has the time that the documentation asks for, and no limit of CPU makes a replica stand still', () => {
    expect(base.spec.template.spec.terminationGracePeriodSeconds).toBe(grace);
    expect(grace).toBeGreaterThan(60);
    expect(container.resources.limits.cpu).toBeUndefined();
    expect(container.resources.requests.memory).toBe(container.resources.limits.memory);
  });

  test('secrets come by reference, one key for each variable', () => {
    const variables = [...container.env, ...patch.spec.template.spec.containers.flatMap(({ env }) => env)];
    expect(variables.map(({ valueFrom }) => valueFrom.secretKeyRef.name)).toEqual(variables.map(() => 'tracejury'));
    const keys = variables.map(({ valueFrom }) => valueFrom.secretKeyRef.key);
    expect(new Set(keys).size).toBe(keys.length);
    const told = ['base', 'many'].map((name) => text(`${kubernetes}/${name}/kustomization.yaml`)).join('\n');
    expect(keys.filter((key) => !told.includes(key))).toEqual([]);
  });

  test('the overlay changes parts of the base: one process on a volume becomes three without one', () => {
    expect([base.spec.replicas, base.spec.strategy.type]).toEqual([1, 'Recreate']);
    expect([patch.spec.replicas, patch.spec.strategy.type]).toEqual([3, 'RollingUpdate']);
    expect(patch.metadata.name).toBe(base.metadata.name);
    expect(patch.spec.template.spec.containers.map(({ name }) => name)).toEqual([container.name]);
    expect(patch.spec.template.spec.volumes).toEqual([{ name: 'data', persistentVolumeClaim: null, emptyDir: {} }]);
    expect(base.spec.template.spec.volumes.map(({ name }) => name)).toContain('data');
    const gone = read<{ readonly $patch: string; readonly kind: string; readonly metadata: object }>(`${kubernetes}/many/no-volume.yaml`);
    const volume = read<{ readonly kind: string; readonly metadata: object }>(`${kubernetes}/base/volume.yaml`);
    expect(gone).toMatchObject({ $patch: 'delete', kind: volume.kind, metadata: volume.metadata });
  });

  test('disruptions and scaling are for the pods of the deployment, and scaling reads a gauge of the service', () => {
    const { labels = [] } = read<Kustomization>(`${kubernetes}/base/kustomization.yaml`);
    const { spec: disruption } = read<{ readonly spec: { readonly maxUnavailable: number; readonly selector: { readonly matchLabels: object } } }>(`${kubernetes}/many/disruption.yaml`);
    expect(disruption).toEqual({ maxUnavailable: 1, selector: { matchLabels: labels[0]?.pairs } });
    const { spec: scaling } = read<{ readonly spec: { readonly scaleTargetRef: object; readonly minReplicas: number; readonly metrics: readonly { readonly pods: { readonly metric: { readonly name: string } } }[] } }>(`${kubernetes}/many/scaling.yaml`);
    expect(scaling.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: base.metadata.name });
    expect(scaling.minReplicas).toBe(patch.spec.replicas);
    const gauges = Object.entries(metricRows).flatMap(([name, { kind }]) => (kind === 'gauge' ? [name.replaceAll('.', '_')] : []));
    expect(scaling.metrics.map(({ pods }) => pods.metric.name).filter((name) => !gauges.includes(name))).toEqual([]);
  });
});

function loaded(file: string): { readonly config: Config; readonly warnings: readonly unknown[] } {
  return loadConfig({ validators, file, text: text(file), env: secretsOf(file), evaluators });
}

function secretsOf(file: string): { readonly [name: string]: string } {
  return Object.fromEntries(variablesIn(file).map((name) => [name, `value-of-${name}`]));
}

function variablesIn(file: string): readonly string[] {
  return [...text(file).matchAll(/\$\{env:(\w+)\}/g)].map(([, name = '']) => name);
}

function namesOf(variables: readonly Variable[]): readonly string[] {
  return variables.map(({ name }) => name);
}

/** Kubernetes writes `564Mi` and Compose `564m`; both count by 1,024. */
function bytesOf(size: string): number {
  return quantityOf('bytes', size.replace(/Mi$|m$/, 'MiB')) ?? Number.NaN;
}

function read<T>(path: string): T {
  return parse(text(path)) as T;
}

function text(path: string): string {
  return readFileSync(path, 'utf8');
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1);
}
