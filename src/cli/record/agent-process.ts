/** A command that runs with an OTLP endpoint in its environment. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Environment } from '../../config/substitution.ts';

/** The standard variables that would lead an exporter elsewhere, or to a receiver with a certificate. */
const misleading =
  /^OTEL_EXPORTER_OTLP_(?:(?:TRACES|LOGS|METRICS)_)?(?:ENDPOINT|PROTOCOL|HEADERS|CERTIFICATE|CLIENT_KEY|CLIENT_CERTIFICATE|INSECURE)$/;
/** Batches leave early: some SDKs send nothing when their process exits. */
const batchDelayMs = 200;
/** As a shell reports a command that a signal has ended. */
const signalExitBase = 128;

/**
 * The environment with the endpoint as the standard variables name it. A command that asks for gRPC by `OTEL_EXPORTER_OTLP_PROTOCOL` gets
 * gRPC, any other one HTTP with protobuf. Metrics are not sent, for nobody takes them.
 */
export function agentEnvironment(env: Environment, { http, grpc }: { readonly http: string; readonly grpc: string }): Environment {
  const isGrpc = (env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL']) === 'grpc';
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !misleading.test(name)));
  return {
    OTEL_BSP_SCHEDULE_DELAY: String(batchDelayMs),
    OTEL_BLRP_SCHEDULE_DELAY: String(batchDelayMs),
    ...kept,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_ENDPOINT: isGrpc ? grpc : http,
    OTEL_EXPORTER_OTLP_PROTOCOL: isGrpc ? 'grpc' : 'http/protobuf',
  };
}

/** Resolves with the exit code of the command; signals to this process reach it. Rejects where it cannot be started. */
export async function runAgent([command = '', ...args]: readonly string[], env: Environment): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...env } });
  // A terminal sends Ctrl-C to the command as well.
  const pass = (signal: NodeJS.Signals): boolean => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, pass);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signalExitBase + (signal === null ? 0 : constants.signals[signal])));
    });
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}
