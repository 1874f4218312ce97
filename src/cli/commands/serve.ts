/** `tracejury serve`: runs the service until a signal. */
import { once } from 'node:events';
import { pino, type Logger } from 'pino';
import { evaluators } from '../../../evaluators/index.ts';
import type { Config } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import type { ConfigFlags } from '../../config/overrides.ts';
import type { Environment } from '../../config/document.ts';
import { watchedFile } from '../../config/files/watched-file.ts';
import { service } from '../../service.ts';
import { clock, lowerThreadPriorities, sleep } from '../../service/node-runtime.ts';
import { openSelfTracing } from '../../service/self-tracing/open.ts';
import { UsageError, type CommandProgram, type CommandInput, type ExitCode, textOption } from '../command.ts';
import { configOption } from '../common-options.ts';
import { warningsText } from '../input-faults.ts';
import { dataText, hasColours, logLine, runLines, whatIsOn } from '../serve/terminal.ts';
import { JuryError } from '../../model/errors.ts';

function flagsOf(input: CommandInput): ConfigFlags {
  const [port, logLevel] = [textOption(input, 'port'), textOption(input, 'log-level')];
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535))
    throw new UsageError(`--port ${JSON.stringify(port)} is not a port. Write a whole number from 0 to 65535.`);
  return { ...(port === undefined ? {} : { port: Number(port) }), ...(logLevel === undefined ? {} : { logLevel }) };
}

/** Writes JSON lines, or readable lines for people. */
function loggerOf({ log: { level } }: Config, isReadable: boolean, env: Environment): Logger {
  if (!isReadable) return pino({ level });
  const colours = hasColours(process.stdout.isTTY, env);
  return pino({ level }, { write: (line: string) => void process.stdout.write(`${logLine(line, { colours })}\n`) });
}

export const serve: CommandProgram = {
  examples: [
    { does: 'Listens on loopback with the defaults:', line: 'tracejury serve' },
    { does: 'Uses a configuration:', line: 'tracejury serve -c tracejury.yaml' },
    { does: 'Listens for OTLP over HTTP on another port, with a verbose log:', line: 'tracejury serve --port 14318 --log-level debug' },
  ],
  options: {
    config: configOption('reads this configuration (default: all defaults)'),
    port: { type: 'string', value: 'N', summary: 'replaces the port of listen.otlp_http; 0 chooses a free port' },
    'log-level': { type: 'string', value: 'LEVEL', summary: 'replaces log.level: trace, debug, info, warn, error, fatal or silent' },
  },
  positionalsMax: 0,
  async run(input: CommandInput): Promise<ExitCode> {
    const { env, say, complain } = input;
    const file = textOption(input, 'config');
    const flags = flagsOf(input);
    // Without a listener the signal would end the process during the start.
    const hangups = { early: false, reload: (): void => void (hangups.early = true) };
    process.on('SIGHUP', () => hangups.reload());
    const source = file === undefined ? undefined : watchedFile({ file, env, evaluators, flags });
    const { config, fingerprints, warnings, printed } = await (source?.read() ?? readConfig({ file: undefined, env, evaluators, flags }));
    if (warnings.length > 0) complain(warningsText(warnings));
    const isReadable = config.log.format === 'pretty' || (config.log.format === 'auto' && process.stdout.isTTY);
    // Explanations of verdicts may quote a run: they go to a terminal, never to a log file.
    const terminal = { colours: hasColours(process.stdout.isTTY, env), say, clock, sleep };
    const logger = loggerOf(config, isReadable, env);
    const running = service({
      config,
      fingerprints,
      read: { printed, warnings },
      tracing: await openSelfTracing(config, env),
      logger,
      ...(isReadable && process.stdout.isTTY ? { onScored: runLines(terminal).scored } : {}),
      ...(source === undefined ? {} : { source }),
    });
    hangups.reload = running.reload;
    if (hangups.early) running.reload();
    const stopSignal = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
    const early = new AbortController();
    void stopSignal.then(() => early.abort());
    try {
      const {
        otlpHttp,
        otlpGrpc,
        console: page,
        connections,
      } = await running.start(early.signal).catch((error: unknown) => {
        throw listenFault(error, config.listen);
      });
      lowerThreadPriorities();
      say(`OTLP         ${otlpHttp} (HTTP), ${otlpGrpc} (gRPC)`);
      say(`Console      ${page}   (/api/v1, /metrics, /livez, /readyz)`);
      say(`Data         ${dataText(config)}`);
      say(`Evaluators   ${config.evaluators.map(({ configured }) => configured.name).join(', ')}`);
      if (isReadable) for (const line of whatIsOn(config)) say(line);
      logger.debug(connections, 'the descriptor limit bounds connections');
      await stopSignal;
    } catch (error) {
      if (!early.signal.aborted || !(error instanceof JuryError) || error.code !== 'STOPPING') throw error;
    } finally {
      await running.stop();
    }
    return 0;
  },
};

const listeners = [
  ['otlpHttp', 'listen.otlp_http', '--port or '],
  ['otlpGrpc', 'listen.otlp_grpc', ''],
  ['console', 'listen.console', ''],
] as const;

/** LISTEN_FAILED with advice on the address. */
class ListenFault extends JuryError {
  readonly #todo: string;

  constructor(why: string, todo: string, cause: Error) {
    super('LISTEN_FAILED', why, cause);
    this.name = 'ListenFault';
    this.#todo = todo;
  }

  override get todo(): string {
    return this.#todo;
  }
}

interface ListenError extends Error {
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
}

/** Explains a failed listen: the most common reason why a first start fails. Gives any other error back. */
function listenFault(error: unknown, listen: Config['listen']): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') return error;
  // The error has the address and the port, unless that is 0; a failed lookup has the name only.
  const { port, address: host, hostname = host } = error as ListenError;
  const [name, key, flag] =
    listeners.find(([one]) => (port === undefined ? listen[one].host === hostname : listen[one].port === port)) ?? [];
  if (name === undefined) return error;
  const address = listen[name];
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenFault(
        `Port ${address.port} of ${address.host} (${key}) is in use, perhaps by another tracejury or by an OpenTelemetry Collector.`,
        `Stop that program, or choose another port with ${flag}${key} in the configuration.`,
        error,
      );
    case 'EACCES':
      return new ListenFault(
        `This user may not listen on port ${address.port} of ${address.host} (${key}).`,
        `Choose a port from 1024 on with ${flag}${key} in the configuration.`,
        error,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ListenFault(
        `${address.host} (${key}) is not an address of this machine.`,
        `Choose an address of this machine, such as 127.0.0.1, with ${key} in the configuration.`,
        error,
      );
    default:
      return new ListenFault(`${key}: ${error.message}.`, `Choose another address with ${key} in the configuration.`, error);
  }
}
