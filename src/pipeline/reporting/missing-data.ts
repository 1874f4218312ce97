/** The data that a skipped evaluator lacks, where the spans of its dialect carry it, and the setting that supplies it. */
import type { Run } from '../../model/agent-trace.ts';
import type { Carried } from '../../../collectors/collector.ts';
import { collectors } from '../../../collectors/index.ts';

/** Data that an evaluator requires. */
export type Lack = Carried | 'whole_content' | 'times' | 'expectation' | 'prices';

export const lackTexts: { readonly [lack in Lack]: string } = {
  input: 'the input',
  final_response: 'the final response',
  tool_calls: 'tool calls',
  tool_arguments: 'arguments of tool calls',
  tool_results: 'results of tool calls',
  tool_definitions: 'tool definitions',
  tokens: 'tokens of model calls',
  whole_content: 'content that is not cut short',
  times: 'start and end of the run',
  expectation: 'what is expected',
  prices: 'the price of the model',
};

/** Other reasons mean that nothing is missing: the run has nothing to evaluate. */
export const lackByReason: { readonly [reason: string]: Lack } = {
  no_expectation: 'expectation',
  no_tasks: 'expectation',
  no_price: 'prices',
  no_input: 'input',
  no_final_response: 'final_response',
  no_tool_definitions: 'tool_definitions',
  tool_calls_not_carried: 'tool_calls',
  arguments_not_carried: 'tool_arguments',
  results_not_carried: 'tool_results',
  truncated: 'whole_content',
  no_tokens: 'tokens',
  no_times: 'times',
};

/** The missing data for a skip reason; `undefined` when the run has nothing to evaluate. */
export function lackOf(reason: string): Lack | undefined {
  return Object.hasOwn(lackByReason, reason) ? lackByReason[reason] : undefined;
}

export function isLack(text: string): text is Lack {
  return Object.hasOwn(lackTexts, text);
}

/**
 * The dialect of the configuration that read a run, else the first of the collectors' table that did, which lists specific dialects before
 * generic ones; empty when none did.
 */
export function mainDialect({ dialects, configuredDialect }: Pick<Run, 'dialects' | 'configuredDialect'>): string {
  return configuredDialect ?? own(dialects)[0]?.id ?? '';
}

/** Attributes, events and log records that carry the data, in all dialects of the run, the most direct first. */
export function placesOf(lack: Lack, dialects: readonly string[]): readonly string[] {
  return isCarried(lack) ? [...new Set(own(dialects).flatMap(({ carriedBy }) => carriedBy?.[lack] ?? []))] : [];
}

/** The remedy as one sentence. The most specific dialect names the setting of its SDK. */
export function missingDataOf(lack: Lack, dialects: readonly string[]): string | undefined {
  if (!isCarried(lack)) return otherRemedies[lack];
  if (lack === 'tokens') return tokensRemedy;
  const kind = lack === 'tool_definitions' ? 'tools' : 'content';
  return own(dialects).find(({ captureHints }) => captureHints?.[kind] !== undefined)?.captureHints?.[kind];
}

const tokensRemedy =
  'Numbers of tokens come with the spans of model calls: instrument the model client too, and let it report usage when it streams.';

const otherRemedies: { readonly [lack in Exclude<Lack, Carried>]: string | undefined } = {
  expectation:
    'Say what is expected under `expect` in the configuration, or as JSON in the attribute tracejury.expected on the run’s span.',
  prices: 'Name the price of this model under `prices` in the configuration.',
  whole_content: 'Raise the limits of attributes: OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, or the SDK’s own.',
  times: undefined,
};

/** True when instrumentation can supply the data. */
export function isCarried(lack: Lack): lack is Carried {
  return !Object.hasOwn(otherRemedies, lack);
}

function own(dialects: readonly string[]): typeof collectors {
  return collectors.filter(({ id }) => dialects.includes(id));
}
