/** A gRPC server of the official library on loopback that takes spans and log records as the bytes that came. */
import { Metadata, Server, ServerCredentials, type handleUnaryCall, type status } from '@grpc/grpc-js';
import type { OtlpSignal } from '../../src/otlp/write/responses.ts';
import { spansOf, type TargetSpan } from './otlp-target.ts';

export interface GrpcRequest {
  readonly signal: OtlpSignal;
  readonly headers: { readonly [name: string]: unknown };
  /** The message, inflated. */
  readonly body: Buffer;
}

/** The answer to a call; only a message is success. */
export type GrpcReply = Buffer | { readonly code: status; readonly text?: string; readonly statusDetails?: Buffer } | 'silence';

export interface GrpcTarget {
  readonly url: string;
  readonly port: number;
  /** Calls that were answered with success. */
  readonly taken: readonly GrpcRequest[];
  /** Calls that came. */
  readonly seen: readonly GrpcRequest[];
  /** The bodies of all accepted calls, in order. */
  spans(): readonly TargetSpan[];
  close(): Promise<void>;
}

const methods = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
} as const;
const whole = (bytes: Buffer): Buffer => bytes;

export async function grpcTarget(
  reply: (request: GrpcRequest, at: number) => GrpcReply = () => Buffer.alloc(0),
  port = 0,
): Promise<GrpcTarget> {
  const [taken, seen]: [GrpcRequest[], GrpcRequest[]] = [[], []];
  const server = new Server();
  for (const signal of ['traces', 'logs'] as const) {
    const answer: handleUnaryCall<Buffer, Buffer> = (call, done) => {
      const request: GrpcRequest = { signal, headers: call.metadata.getMap(), body: call.request };
      seen.push(request);
      const said = reply(request, seen.length - 1);
      if (said === 'silence') return;
      if (Buffer.isBuffer(said)) {
        taken.push(request);
        return done(null, said);
      }
      const metadata = new Metadata();
      if (said.statusDetails !== undefined) metadata.set('grpc-status-details-bin', said.statusDetails);
      done({ code: said.code, details: said.text ?? '', metadata });
    };
    const codec = { requestSerialize: whole, requestDeserialize: whole, responseSerialize: whole, responseDeserialize: whole };
    server.addService({ Export: { path: methods[signal], requestStream: false, responseStream: false, ...codec } }, { Export: answer });
  }
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error === null ? resolve(at) : reject(error),
    );
  });
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    taken,
    seen,
    spans: () => taken.filter(({ signal }) => signal === 'traces').flatMap(({ body }) => spansOf(body)),
    close: async () => server.forceShutdown(),
  };
}
