/** An address that cannot be listened on, in words: the most common reason why a first start fails. */
import type { Config } from '../config/config.ts';
import { JuryError } from '../model/errors.ts';

const keys = [
  ['otlpHttp', 'listen.otlp_http'],
  ['otlpGrpc', 'listen.otlp_grpc'],
  ['console', 'listen.console'],
] as const;

/** The error itself when it is about something else. */
export function listenFault(error: unknown, listen: Config['listen']): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || error.syscall !== 'listen' || !('code' in error)) return error;
  const port = 'port' in error ? error.port : undefined;
  const key = keys.find(([name]) => listen[name].port === port)?.[1] ?? 'listen';
  return new JuryError('LISTEN_FAILED', `${key}: ${error.message}.`, error);
}
