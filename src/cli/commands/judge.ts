/** `tracejury judge`: is a judge worth its answers, and what would it cost? */
import { UsageError, type Command, textOption, textOptions, reportFormat, numberOption } from '../command.ts';
import { checkJudges } from '../judge/check.ts';
import { forecastCost } from '../judge/forecast.ts';

const filesMax = 1_000;
const timeoutSecondsMax = 86_400;
const tokensMax = 10_000_000;

export const judge: Command = {
  name: 'judge',
  usage: 'check|forecast -c FILE [options]',
  summary: 'Compares a judge with labels of people, or forecasts what judges would cost a day.',
  subcommands: [
    {
      name: 'check',
      usage: 'FILE… -c FILE [options]',
      summary:
        'Puts labelled runs before the judges of a configuration and says how far they agree with people. With --against it says which of two configurations is better.',
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
      examples: [
        { does: 'Forecasts the cost of a sampling rate before it is deployed:', line: 'tracejury judge forecast -c tracejury.yaml' },
      ],
    },
  ],
  examples: [
    { does: 'Compares the judges of a configuration with labels:', line: 'tracejury judge check labelled.jsonl -c tracejury.yaml' },
  ],
  options: {
    config: { type: 'string', short: 'c', value: 'FILE', summary: 'configuration whose judges are asked, or whose cost is reckoned' },
    against: { type: 'string', value: 'FILE', summary: 'another configuration, to compare with; exit 1 when that of -c is worse' },
    labels: {
      type: 'string',
      multiple: true,
      value: 'FILE',
      summary: 'labels that do not stand with their runs, as the API takes annotations; may be repeated',
    },
    evaluator: { type: 'string', value: 'NAME', summary: 'this evaluator alone' },
    timeout: { type: 'string', value: 'SECONDS', summary: 'longest wait for one verdict' },
    'input-tokens': {
      type: 'string',
      value: 'NUMBER',
      summary: 'tokens that a verdict, or each vote on one, takes in, instead of an estimate from the stored runs',
    },
    'output-tokens': { type: 'string', value: 'NUMBER', summary: 'tokens that it gives out; 200 when left out' },
    format: { type: 'string', value: 'text|json', summary: 'text (default) or json' },
  },
  positionalsMax: filesMax,
  async run(input) {
    const [action, ...files] = input.positionals;
    const config = textOption(input, 'config');
    if (action !== 'check' && action !== 'forecast')
      throw new UsageError(action === undefined ? 'Say check or forecast.' : `${JSON.stringify(action)} is neither check nor forecast.`);
    if (config === undefined) throw new UsageError('-c names the configuration.');
    const format = reportFormat(input);
    if (action === 'forecast') {
      if (files.length > 0) throw new UsageError('forecast reads the store that the configuration names, and no files.');
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
