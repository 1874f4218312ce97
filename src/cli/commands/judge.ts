/** `tracejury judge`: compares judges with people, forecasts their costs, and drafts judges from labels. */
import { UsageError, type CommandProgram, textOption, textOptions, reportFormat, numberOption } from '../command.ts';
import { configOption, formatOption, tenantOption } from '../common-options.ts';
import { checkJudges } from '../judge/check.ts';
import { draftOfJudge } from '../judge/draft.ts';
import { forecastCost } from '../judge/forecast.ts';
import { tenant } from '../../model/ids.ts';

const filesMax = 1_000;
const timeoutSecondsMax = 86_400;
const tokensMax = 10_000_000;
const budgetUsdMax = 1_000_000;

export const judge: CommandProgram = {
  subcommands: [
    {
      name: 'check',
      usage: 'FILE… -c FILE [options]',
      summary:
        'Asks the judges of a configuration about labelled runs and reports their agreement with people. Compares two configurations with --against.',
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
    {
      name: 'draft',
      usage: '[FILE…] --from labels -c FILE [options]',
      summary:
        'Drafts a judge evaluator from labels of people, of the store or of files, and checks it on labels that the draft has not seen. Writes a file and puts nothing in force.',
      options: ['from', 'config', 'evaluator', 'labels', 'judge', 'budget', 'output', 'tenant', 'format'],
      examples: [
        {
          does: 'Names the labels and the cost, and asks nothing:',
          line: 'tracejury judge draft --from labels -c tracejury.yaml --evaluator courtesy',
        },
        {
          does: 'Drafts for at most one US dollar:',
          line: 'tracejury judge draft --from labels -c tracejury.yaml --evaluator courtesy --budget 1',
        },
      ],
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
    evaluator: { type: 'string', value: 'NAME', summary: 'checks this evaluator only, or drafts from the labels of this name' },
    from: { type: 'string', value: 'labels', summary: 'drafts from labels of people, the only source (default)' },
    judge: { type: 'string', value: 'NAME', summary: 'asks this judge (default: the only one)' },
    budget: { type: 'string', value: 'USD', summary: 'asks the judge and spends at most this; without it nothing is asked or written' },
    output: { type: 'string', value: 'FILE', summary: 'writes the draft to this new file (default: NAME.judge.yaml)' },
    tenant: tenantOption('drafts from labels of this tenant'),
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
    if (action !== 'check' && action !== 'forecast' && action !== 'draft')
      throw new UsageError(
        action === undefined
          ? 'Name an action: check, forecast or draft.'
          : `${JSON.stringify(action)} is neither check, forecast nor draft.`,
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
    if (action === 'draft') {
      if ((textOption(input, 'from') ?? 'labels') !== 'labels') throw new UsageError('--from takes labels.');
      if (files.length === 0 && textOptions(input, 'labels').length > 0)
        throw new UsageError('--labels is for runs in files: name these as well, or leave it out to read the store.');
      return await draftOfJudge(
        {
          files,
          labels: textOptions(input, 'labels'),
          config,
          name: textOption(input, 'evaluator'),
          judge: textOption(input, 'judge'),
          budgetUsd: numberOption(input, 'budget', budgetUsdMax),
          output: textOption(input, 'output'),
          tenant: tenant(textOption(input, 'tenant') ?? ''),
          format,
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
