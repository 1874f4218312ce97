/** A server on loopback for any exporter, over HTTP/1.1 or, for gRPC, HTTP/2, with TLS or without, whose answers the test chooses. */
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { SecureServerOptions } from 'node:http2';

export interface FamilyReply {
  readonly status: number;
  /** The status of gRPC, behind a status of 200. Undefined when the server knows nothing of gRPC. */
  readonly grpcStatus?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

/** `silence`: no answer; `cut`: the connection is reset. */
export type FamilyAnswer = FamilyReply | 'silence' | 'cut';

export interface FamilyServer {
  readonly url: string;
  /** Requests that came. */
  readonly seen: () => number;
  close(): Promise<void>;
}

export interface FamilyServerOptions {
  readonly isGrpc: boolean;
  readonly tls?: SecureServerOptions;
  readonly answer: () => FamilyAnswer;
}

export async function familyServer({ isGrpc, tls, answer }: FamilyServerOptions): Promise<FamilyServer> {
  let seen = 0;
  const sockets = new Set<{ destroy(): void }>();
  const server: Server = isGrpc ? overHttp2() : overHttp();
  for (const event of ['connection', 'secureConnection'] as const) server.on(event, (socket: { destroy(): void }) => sockets.add(socket));
  // A refused connection is not a fault of the test.
  server.on('tlsClientError', () => undefined);
  server.on('sessionError', () => undefined);

  function overHttp(): Server {
    const listener: http.RequestListener = (request, response) => {
      request.resume().on('end', () => {
        seen++;
        const said = answer();
        if (said === 'cut') request.socket.destroy();
        else if (said !== 'silence') response.writeHead(said.status, { ...said.headers }).end(said.body);
      });
    };
    return tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  }

  function overHttp2(): Server {
    const own = tls === undefined ? http2.createServer() : http2.createSecureServer(tls);
    own.on('stream', (stream) => {
      stream.on('error', () => undefined);
      stream.resume().on('end', () => {
        seen++;
        const said = answer();
        if (said === 'cut') return stream.session?.destroy();
        if (said === 'silence') return undefined;
        const { status, grpcStatus, headers, body = '' } = said;
        stream.respond(
          { ':status': status, ...headers, ...(grpcStatus === undefined ? {} : { 'content-type': 'application/grpc' }) },
          { waitForTrailers: grpcStatus !== undefined },
        );
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(grpcStatus) }));
        stream.end(grpcStatus === undefined ? body : undefined);
        return undefined;
      });
    });
    return own;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http${tls === undefined ? '' : 's'}://localhost:${(server.address() as AddressInfo).port}`,
    seen: () => seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
