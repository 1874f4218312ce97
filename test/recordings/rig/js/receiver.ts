/** Takes OTLP over HTTP on loopback and keeps each body unchanged. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const kinds = ['traces', 'logs', 'metrics'] as const;

export interface Body {
  readonly kind: (typeof kinds)[number];
  readonly path: string;
  readonly content_type: string;
  readonly content_encoding: string | null;
  readonly user_agent: string | null;
  readonly payload: Buffer;
}

export interface Receiver {
  readonly address: string;
  /** In order of arrival. */
  readonly bodies: readonly Body[];
  close(): void;
}

export async function receiver(): Promise<Receiver> {
  const bodies: Body[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((payload) => {
      const [path = ''] = (request.url ?? '').split('?');
      const { 'content-type': type = '', 'content-encoding': encoding = null, 'user-agent': agent = null } = request.headers;
      const kind = kinds.find((one) => path.endsWith(`/${one}`));
      if (request.method === 'POST' && kind !== undefined && payload.length > 0)
        bodies.push({ kind, path, content_type: type, content_encoding: encoding, user_agent: agent, payload });
      else if (process.env['RIG_SHOW'] !== undefined) process.stderr.write(`the receiver takes no ${request.method} ${path}\n`);
      const isProtobuf = type.includes('protobuf');
      response.writeHead(200, { 'content-type': isProtobuf ? type : 'application/json' }).end(isProtobuf ? '' : '{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, close: () => void server.close() };
}
