/** `tracejury serve`: the service, until a signal ends it. */
import { once } from 'node:events';
import { evaluators } from '../../../evaluators/index.ts';
import type { Config } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import { watchedFile } from '../../config/watched-file.ts';
import { service } from '../../service.ts';
import { giveWay } from '../../serving/thread-priorities.ts';
import { UsageError, type Command, type CommandInput, type ExitCode } from '../command.ts';
import { warningsText } from '../faults-text.ts';
import { listenFault } from '../listen-fault.ts';

/** What would be lost when the process ends is said here, not only in a guide. */
function dataText({ store, journal }: Config): string {
  const runs = store.address.scheme === 'memory' ? 'runs and verdicts in memory, gone when the process ends' : `${store.address.rest} (runs and verdicts)`;
  return `${runs}, ${journal.scheme === 'memory' ? 'what is open in memory' : `${journal.rest} (what is open)`}`;
}

export const serve: Command = {
  name: 'serve',
  usage: '[-c FILE]',
  summary: 'Runs the service: takes spans in, scores runs, sends scores out.',
  examples: [
    { does: 'Listens on loopback, with every default:', line: 'tracejury serve' },
    { does: 'Uses a configuration:', line: 'tracejury serve -c tracejury.yaml' },
  ],
  options: { config: { type: 'string', short: 'c', value: 'FILE', summary: 'configuration; without it every default holds' } },
  positionalsMax: 0,
  async run({ options, env, say, complain }: CommandInput): Promise<ExitCode> {
    const file = options['config'];
    if (file !== undefined && typeof file !== 'string') throw new UsageError('-c takes one file.');
    // From the very beginning: unheard, it would end the process. It stays until the process is gone.
    const hangups = { early: false, reload: (): void => void (hangups.early = true) };
    process.on('SIGHUP', () => hangups.reload());
    const source = file === undefined ? undefined : watchedFile({ file, env, evaluators });
    const { config, prints, warnings } = await (source?.read() ?? readConfig({ file: undefined, env, evaluators }));
    if (warnings.length > 0) complain(warningsText(warnings));
    const running = service({ config, prints, ...(source === undefined ? {} : { source }) });
    hangups.reload = running.reload;
    if (hangups.early) running.reload();
    const stopSignal = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
    try {
      const { otlpHttp, otlpGrpc, console: page } = await running.start().catch((error: unknown) => {
        throw listenFault(error, config.listen);
      });
      giveWay();
      say(`OTLP         ${otlpHttp} (HTTP), ${otlpGrpc} (gRPC)`);
      say(`Console      ${page}   (/api/v1, /metrics, /livez, /readyz)`);
      say(`Data         ${dataText(config)}`);
      say(`Evaluators   ${config.evaluators.map(({ configured }) => configured.name).join(', ')}`);
      await stopSignal;
    } finally {
      await running.stop();
    }
    return 0;
  },
};
