/** Options that several commands have, in one form. Each command describes its use of the option. */
import type { CommandOption } from './command.ts';
import { runConditionNames } from '../model/store/run-filter.ts';

export function configOption(summary: string): CommandOption {
  return { type: 'string', short: 'c', value: 'FILE', summary };
}

export function tenantOption(summary: string): CommandOption {
  return { type: 'string', value: 'NAME', summary };
}

/** `value`: the formats, or NAME where the summary lists them. */
export function formatOption(summary: string, value = 'NAME'): CommandOption {
  return { type: 'string', value, summary };
}

export const addedRunsFault = 'Name runs with --run TRACE_ID[/SPAN_ID], or choose runs with --where or --issue.';

/** Options that choose the stored runs to add. */
export const addedRunOptions = {
  run: {
    type: 'string',
    multiple: true,
    value: 'TRACE_ID[/SPAN_ID]',
    summary: 'adds this run, or the outermost run of a trace; may be repeated',
  },
  where: {
    type: 'string',
    value: 'FILTER',
    summary: `adds the newest runs that match KEY=VALUE conditions; keys are ${runConditionNames.join(', ')}`,
  },
  issue: { type: 'string', value: 'ID', summary: 'adds the newest runs of this issue, with --where those that match it too' },
  since: { type: 'string', value: 'TIME', summary: 'adds only runs that began since this time, such as 24h or 2026-01-31' },
} as const satisfies { readonly [name: string]: CommandOption };
