/** TLS at both OTLP doors: exporters that agents use, client certificates, and handshakes that fail. */
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, test } from 'vitest';
import { knownClient, mutualTls, serverTls, stranger, trust } from './certificates.ts';
import { openDoor, openGrpcDoor, type Door, type DoorOptions } from './door.ts';
import { counted } from './otlp-grpc/opened.ts';

interface Identity {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

interface Kind {
  readonly transport: 'http' | 'grpc';
  readonly open: (options?: DoorOptions) => Promise<Door>;
  readonly alpn: string;
  readonly exporters: { readonly [name: string]: (port: number, identity: Identity) => SpanExporter };
}

/** For all tries together: a connection that is cut off is tried again. */
const timeoutMillis = 1_500;
const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));

const kinds: readonly Kind[] = [
  {
    transport: 'http',
    open: openDoor,
    alpn: 'http/1.1',
    exporters: {
      'exporter-trace-otlp-proto': (port, identity) =>
        new ProtobufExporter({ url: `https://localhost:${port}/v1/traces`, httpAgentOptions: identity, timeoutMillis }),
      'exporter-trace-otlp-http': (port, identity) =>
        new JsonExporter({ url: `https://127.0.0.1:${port}/v1/traces`, httpAgentOptions: identity, timeoutMillis }),
    },
  },
  {
    transport: 'grpc',
    open: openGrpcDoor,
    alpn: 'h2',
    exporters: {
      'exporter-trace-otlp-grpc': (port, { ca, cert, key }) =>
        new GrpcExporter({
          url: `https://localhost:${port}`,
          credentials: credentials.createSsl(pem(ca), pem(key), pem(cert)),
          timeoutMillis,
        }),
    },
  },
];

const doors: Door[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.receiver.stop()));
});

describe.each(kinds)('TLS over $transport', ({ transport, open, alpn, exporters }) => {
  const opened = async (options: DoorOptions): Promise<Door> => {
    const door = await open(options);
    doors.push(door);
    return door;
  };
  const ends = (reason: string): string => `tracejury.receiver.connections_ended ${transport} ${reason}`;

  for (const [name, exporter] of Object.entries(exporters)) {
    test(`otlp_${transport}: ${name} sends over TLS`, async () => {
      const door = await opened({ tls: serverTls });
      expect(await sent(exporter(door.port, trust))).toBe(true);
      expect(door.spans.map(([, { name: span }]) => span)).toEqual(['invoke_agent shop']);
    });

    test(`otlp_${transport}: ${name} with a certificate of the authority is let in`, async () => {
      const door = await opened({ tls: mutualTls });
      expect(await sent(exporter(door.port, knownClient))).toBe(true);
      expect(door.spans).toHaveLength(1);
    });

    test.each([
      ['no certificate', trust],
      ['a certificate of another authority', stranger],
    ])(`otlp_${transport}: ${name} with %s is not, and counted`, async (_with, identity) => {
      const door = await opened({ tls: mutualTls });
      expect(await sent(exporter(door.port, identity))).toBe(false);
      expect(await counted(door, ends('tls_handshake'))).toBeGreaterThan(0);
      expect(door.spans).toEqual([]);
    });
  }

  test(`otlp_${transport}: a certificate does not replace a token`, async () => {
    const door = await opened({ tls: mutualTls, tokens: [{ name: 'shop', value: 'k' }] });
    for (const exporter of Object.values(exporters)) expect(await sent(exporter(door.port, knownClient))).toBe(false);
    expect(door.spans).toEqual([]);
  });

  test.each(['TLSv1', 'TLSv1.1'] as const)(`otlp_${transport}: %s is too old`, async (version) => {
    const door = await opened({ tls: serverTls });
    // OpenSSL speaks the old versions only at this level, on both sides; the server still must not.
    const options = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(handshake(door.port, { ...options, ALPNProtocols: [alpn] })).rejects.toThrow();
    expect(await counted(door, ends('tls_handshake'))).toBe(1);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(`otlp_${transport}: %s is spoken`, async (version) => {
    const door = await opened({ tls: serverTls });
    const socket = await handshake(door.port, { minVersion: version, maxVersion: version, ALPNProtocols: [alpn] });
    expect(socket.getProtocol()).toBe(version);
    socket.destroy();
  });

  test(`otlp_${transport}: a second handshake on one connection is refused`, async () => {
    const door = await opened({ tls: serverTls });
    const socket = await handshake(door.port, { maxVersion: 'TLSv1.2', ALPNProtocols: [alpn] });
    const refused = await new Promise<Error | null>((resolve) => {
      socket.once('error', resolve);
      socket.renegotiate({}, resolve);
    });
    expect(refused?.message).toMatch(/no renegotiation/);
    socket.destroy();
  });

  test(`otlp_${transport}: bytes that are not a handshake are counted, answered with nothing and cut off`, async () => {
    const door = await opened({ tls: serverTls });
    const socket = connectPlain(door.port, '127.0.0.1').on('error', () => undefined);
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')));
    socket.write('POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
    await once(socket, 'close');
    expect(heard).not.toContain('HTTP/1.1 ');
    expect(await counted(door, ends('tls_handshake'))).toBe(1);
    expect([...door.counts.keys()].filter((key) => key.startsWith('tracejury.receiver.requests'))).toEqual([]);
  });

  test(`otlp_${transport}: the log names the remedy for a client that speaks without TLS`, async () => {
    for (const words of ['POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']) {
      const door = await opened({ tls: serverTls });
      const socket = connectPlain(door.port, '127.0.0.1').on('error', () => undefined);
      socket.resume().write(words);
      await once(socket, 'close');
      await counted(door, ends('tls_handshake'));
      expect(door.warnings).toEqual([
        { kind: 'is_plain', status: 400, refused: 1, todo: expect.stringMatching(/^Write https:/) as string },
      ]);
    }
  });

  test(`otlp_${transport}: who connects and leaves without a word is not counted`, async () => {
    const door = await opened({ tls: serverTls });
    const probe = connectPlain(door.port, '127.0.0.1');
    await once(probe, 'connect');
    probe.destroy();
    // A handshake has several steps: behind its last one, the probe is known to be gone.
    (await handshake(door.port, { ALPNProtocols: [alpn] })).destroy();
    expect([...door.counts.keys()].filter((key) => key.includes('connections_ended'))).toEqual([]);
  });
});

test('otlp_grpc: a connection that never finishes its handshake is ended, and counted', async () => {
  const door = await openGrpcDoor({ tls: serverTls, bounds: { handshakeMs: 50 } });
  doors.push(door);
  const socket = connectPlain(door.port, '127.0.0.1').on('error', () => undefined);
  socket.resume();
  await once(socket, 'close');
  expect(door.counts.get('tracejury.receiver.connections_ended grpc no_handshake')).toBe(1);
});

test('otlp_grpc: over TLS, a client that does not ask for HTTP/2 is ended, and counted', async () => {
  const door = await openGrpcDoor({ tls: serverTls });
  doors.push(door);
  const socket = await handshake(door.port, {});
  socket.resume();
  await once(socket, 'close');
  expect(door.counts.get('tracejury.receiver.connections_ended grpc not_http2')).toBe(1);
  expect(door.warnings).toHaveLength(1);
});

for (const [offers, options] of [
  ['HTTP/1.1', { ALPNProtocols: ['http/1.1'] }],
  ['no protocol', {}],
] satisfies [string, ConnectionOptions][]) {
  test(`otlp_grpc: over TLS, a client of HTTP/1.1 that offers ${offers} gets an answer that names the port and the protocol`, async () => {
    const door = await openGrpcDoor({ tls: serverTls });
    doors.push(door);
    const socket = await handshake(door.port, options);
    const received: Buffer[] = [];
    socket.on('data', (piece: Buffer) => received.push(piece));
    socket.write(`POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`);
    await once(socket, 'close');
    const [first, ...rest] = Buffer.concat(received).toString().split('\r\n');
    expect(first).toBe('HTTP/1.1 400 Bad Request');
    expect(JSON.parse(rest.at(-1) ?? '')).toMatchObject({
      message: expect.stringMatching(/^gRPC is spoken here\..*listen\.otlp_http.*OTEL_EXPORTER_OTLP_PROTOCOL=grpc/) as string,
    });
    expect(door.counts.get('tracejury.receiver.connections_ended grpc not_http2')).toBe(1);
  });
}

async function handshake(port: number, options: ConnectionOptions): Promise<ReturnType<typeof connect>> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ...trust, ...options });
  await once(socket, 'secureConnect');
  return socket.on('error', () => undefined);
}

async function sent(exporter: SpanExporter): Promise<boolean> {
  const code = await new Promise<number>((resolve) => exporter.export(recorded(), (result) => resolve(result.code)));
  await exporter.shutdown();
  return code === 0;
}

function recorded(): ReadableSpan[] {
  const memory = new InMemorySpanExporter();
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] })
    .getTracer('agents')
    .startSpan('invoke_agent shop', {}, trace.deleteSpan(ROOT_CONTEXT))
    .end();
  return memory.getFinishedSpans();
}
