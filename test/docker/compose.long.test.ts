/** The container files refer to each other and to the repository. Nothing here needs a container engine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: { readonly [name: string]: Service };
  readonly volumes: { readonly [name: string]: null };
}

interface CollectorConfig {
  readonly receivers: { readonly otlp: { readonly protocols: { readonly [protocol: string]: { readonly endpoint: string } } } };
  readonly exporters: { readonly [name: string]: { readonly endpoint: string } };
  readonly service: { readonly pipelines: { readonly [signal: string]: { readonly receivers: readonly string[]; readonly exporters: readonly string[] } } };
}

interface JuryConfig {
  readonly listen: { readonly otlp_http: string; readonly otlp_grpc: string; readonly console: string; readonly insecure: boolean; readonly allowed_hosts: readonly string[] };
  readonly export?: readonly { readonly to: string; readonly endpoint: string }[];
}

const compose = parse(text('docker-compose.yml')) as Compose;
const collector = parse(text('docker/collector.yaml')) as CollectorConfig;
const withPhoenix = parse(text('docker/with-phoenix.yaml')) as JuryConfig;
const dockerfile = text('docker/Dockerfile');
const services = Object.entries(compose.services);

describe('compose', () => {
  test.each(services)('%s: the image is pinned to a version', (_name, { image }) => {
    expect(image).toMatch(/:(version-)?\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?$/);
  });

  test.each(services)('%s: ports are published on loopback only', (_name, { ports = [] }) => {
    expect(ports.filter((port) => !/^127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual([]);
  });

  test.each(services)('%s: what is mounted, built or depended on exists', (_name, service) => {
    const sources = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    const missing = sources.filter((source) => (source.startsWith('./') ? !existsSync(source) : !Object.hasOwn(compose.volumes, source)));
    expect(missing).toEqual([]);
    expect(service.build === undefined || existsSync(service.build.dockerfile)).toBe(true);
    expect((service.depends_on ?? []).filter((name) => !Object.hasOwn(compose.services, name))).toEqual([]);
  });

  test('the service has the time to stop that the documentation asks for', () => {
    const documented = /`stop_grace_period: (\d+)s`/.exec(text('docs/guides/operations.md'))?.[1];
    expect(compose.services['tracejury']?.stop_grace_period).toBe(`${documented}s`);
    // Six waits of ten seconds.
    expect(Number(documented)).toBeGreaterThan(60);
  });

  test('no two services publish one port', () => {
    const hostPorts = services.flatMap(([, { ports = [] }]) => ports.map((port) => port.split(':')[1]));
    expect(new Set(hostPorts).size).toBe(hostPorts.length);
  });

  test('the Collector listens where its ports are published, and sends to services of the file', () => {
    const listening = Object.values(collector.receivers.otlp.protocols).map(({ endpoint }) => endpoint.split(':')[1]);
    expect(new Set(listening)).toEqual(new Set((compose.services['collector']?.ports ?? []).map((port) => port.split(':')[2])));
    const hosts = Object.values(collector.exporters).map(({ endpoint }) => new URL(endpoint).hostname);
    expect(hosts.filter((host) => !Object.hasOwn(compose.services, host))).toEqual([]);
    const used = Object.values(collector.service.pipelines).flatMap(({ exporters }) => exporters);
    expect(new Set(used)).toEqual(new Set(Object.keys(collector.exporters)));
  });

  test('spans reach tracejury where it listens, and scores go to a service of the file', () => {
    expect(new URL(collector.exporters['otlp_http/tracejury']?.endpoint ?? '').port).toBe(portOf(withPhoenix.listen.otlp_http));
    expect(compose.services['tracejury']?.ports?.map((port) => port.split(':')[2])).toEqual([portOf(withPhoenix.listen.console)]);
    const backends = (withPhoenix.export ?? []).map(({ to, endpoint }) => [to, new URL(endpoint).hostname]);
    expect(backends).toEqual([['span_events', 'phoenix'], ['phoenix', 'phoenix']]);
  });
});

describe('image', () => {
  test.each(['docker/config.yaml', 'docker/with-phoenix.yaml'])('%s: has no faults', (file) => {
    const said = execFileSync(process.execPath, ['src/cli/main.ts', 'config', 'check', file], { encoding: 'utf8' });
    expect(said).toBe(`${file}: no faults\n`);
  });

  test('Node is pinned, and new enough', () => {
    expect(dockerfile.match(/^ARG NODE_IMAGE=node:(\d+)\.\d+\.\d+-slim$/m)?.[1]).toBe('24');
    expect(dockerfile.match(/^FROM (?!\$\{NODE_IMAGE\})/gm)).toBeNull();
  });

  test('everything that is copied is in the repository and let through by .dockerignore', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => (match[1] ?? '').split(' '));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !existsSync(path))).toEqual([]);
    const letThrough = text('.dockerignore').split('\n');
    expect(letThrough[0]).toBe('*');
    expect(copied.filter((path) => !letThrough.includes(`!${path}`))).toEqual([]);
  });

  test('it does not run as root, and listens at its address', () => {
    const config = parse(text('docker/config.yaml')) as JuryConfig;
    expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(dockerfile).toContain(`EXPOSE ${portOf(config.listen.otlp_grpc)} ${portOf(config.listen.otlp_http)} ${portOf(config.listen.console)}\n`);
    expect(dockerfile).toContain(`fetch('http://127.0.0.1:${portOf(config.listen.console)}/livez')`);
    expect(config.listen.insecure).toBe(true);
    // There are no tokens, so the names are what keeps pages of strangers out.
    for (const { listen } of [config, withPhoenix]) expect(listen.allowed_hosts).toEqual(expect.arrayContaining(['localhost', 'tracejury']));
  });
});

function text(path: string): string {
  return readFileSync(path, 'utf8');
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1);
}
