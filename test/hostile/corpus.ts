/** Everything that is sent to be refused, cut down to size, or taken all the same. */
import type { HostileCase } from './case.ts';
import { compression } from './compression.ts';
import { configCases } from './configs.ts';
import { framing } from './framing.ts';
import { grpcCases } from './grpc.ts';
import { jsonCases } from './json.ts';
import { schemaCases } from './schemas.ts';
import { traceCases } from './traces.ts';
import { wireCases } from './wire.ts';

export const corpus: { readonly [door: string]: readonly HostileCase[] } = {
  'OTLP/HTTP': framing,
  compression: compression,
  'OTLP/JSON': jsonCases,
  protobuf: wireCases,
  gRPC: grpcCases,
  'trace shapes': traceCases,
  'tool schemas': schemaCases,
  configuration: configCases,
};
