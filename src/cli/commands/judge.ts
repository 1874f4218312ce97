/** `tracejury judge`: compares judges with people, and forecasts their costs. */
import { UsageError, type CommandProgram, textOption, textOptions, reportFormat, numberOption } from '../command.ts';
import { configOption, formatOption } from '../common-options.ts';
import { checkJudges } from '../judge/check.ts';
import { forecastCost } from '../judge/forecast.ts';

const filesMax = 1_000;
const timeoutSecondsMax = 86_400;
const tokensMax = 10_000_000;

export const judge: CommandProgram = {
  subcommands: [
    {
      name: 'check',
      usage: 'FILE… -c FILE [options]',
      summary:
        'Asks the judges of a configuration about labelled runs and reports their agreement with people. With --against it compares two configurations.',
      options: ['config', 'against', 'labels', 'evaluator', 'timeout', 'format'],
      examples: [
        { does: 'Compares the judges of a configuration with labels:', line: 'tracejury judge check labelled.jsonl -c tracejury.yaml' },
        {
          does: 'Compares a new prompt with the one in use:',
          line: 'tracejury judge check labelled.jsonl -c new.yaml --against tracejury.yaml',
        },
      ],
    },
    {
      name: 'forecast',
      usage: '-c FILE [options]',
      summary: 'Forecasts the daily cost of the judges of a configuration on the stored traffic.',
      options: ['config', 'input-tokens', 'output-tokens', 'format'],
      examples: [{ does: 'Forecasts the cost of a configuration before deployment:', line: 'tracejury judge forecast -c tracejury.yaml' }],
    },
  ],
  examples: [
    { does: 'Compares the judges of a configuration with labels:', line: 'tracejury judge check labelled.jsonl -c tracejury.yaml' },
  ],
  options: {
    config: configOption('uses the judges of this configuration'),
    against: { type: 'string', value: 'FILE', summary: 'compares with this configuration, and exits with 1 when that of -c is worse' },
    labels: {
      type: 'string',
      multiple: true,
      value: 'FILE',
      summary: 'reads labels from this file, in the form of annotations of the API; may be repeated',
    },
    evaluator: { type: 'string', value: 'NAME', summary: 'checks this evaluator only' },
    timeout: { type: 'string', value: 'SECONDS', summary: 'waits at most this long for one verdict' },
    'input-tokens': {
      type: 'string',
      value: 'NUMBER',
      summary: 'sets the input tokens of each vote (default: an estimate from the stored runs)',
    },
    'output-tokens': {
      type: 'string',
      value: 'NUMBER',
      summary: 'sets the output tokens of each vote (default: 200, or those of stored verdicts)',
    },
    format: formatOption('writes text (default) or json', 'text|json'),
  },
  positionalsMax: filesMax,
  async run(input) {
    const [action, ...files] = input.positionals;
    const config = textOption(input, 'config');
    if (action !== 'check' && action !== 'forecast')
      throw new UsageError(
        action === undefined ? 'Name an action: check or forecast.' : `${JSON.stringify(action)} is neither check nor forecast.`,
      );
    if (config === undefined) throw new UsageError('Name the configuration with -c.');
    const format = reportFormat(input);
    if (action === 'forecast') {
      if (files.length > 0) throw new UsageError('forecast reads the store of the configuration and takes no files.');
      return await forecastCost(
        {
          config,
          format,
          inputTokens: numberOption(input, 'input-tokens', tokensMax),
          outputTokens: numberOption(input, 'output-tokens', tokensMax),
        },
        input,
      );
    }
    if (files.length === 0) throw new UsageError('Name files of recorded runs, or - for standard input.');
    const timeout = numberOption(input, 'timeout', timeoutSecondsMax);
    return await checkJudges(
      {
        files,
        config,
        against: textOption(input, 'against'),
        labels: textOptions(input, 'labels'),
        evaluator: textOption(input, 'evaluator'),
        format,
        timeoutMs: timeout === undefined ? undefined : timeout * 1_000,
      },
      input,
    );
  },
};
