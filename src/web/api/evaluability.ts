/** The route of evaluability: what evaluators could score since the start, and spans without a recognised agent. */
import { wire } from '../../model/attributes.ts';
import type { JsonObject } from '../../model/json.ts';
import { count, many, object, resource, schemasOf, text, textOrNull } from '../../model/resource.ts';
import { isLack, lackTexts, missingDataOf } from '../../pipeline/reporting/missing-data.ts';
import type { UnrecognisedNotice } from '../../pipeline/reporting/recognition.ts';
import type { MetricFamily } from '../../telemetry/registry.ts';
import type { Route } from './route.ts';

interface EvaluabilityPoint {
  readonly labels: { readonly [label: string]: string };
  readonly count: number;
}

const label =
  (name: string) =>
  ({ labels }: EvaluabilityPoint): string | undefined =>
    labels[name];

function neededOf({ labels }: EvaluabilityPoint): { readonly missing?: string; readonly todo?: string | undefined } {
  const { 'tracejury.need': need = '', 'tracejury.dialect': dialect } = labels;
  if (!isLack(need)) return {};
  return { missing: lackTexts[need], todo: missingDataOf(need, dialect === undefined ? [] : [dialect]) };
}

const evaluabilityRow = resource<EvaluabilityPoint>()('EvaluabilityRow', {
  agent: [text, label(wire.agentName)],
  dialect: [text, label('tracejury.dialect')],
  name: [text, label(wire.evaluationName)],
  outcome: [text, label('tracejury.outcome')],
  reason: [textOrNull(), ({ labels }) => labels['tracejury.reason'] || null],
  need: [textOrNull(), ({ labels }) => labels['tracejury.need'] || null],
  missing: [textOrNull('What is missing, in words. Null: nothing.'), (point) => neededOf(point).missing],
  todo: [
    textOrNull('The setting that supplies it: of the SDK of the dialect, or of this service. Null: no setting is known.'),
    (point) => neededOf(point).todo,
  ],
  count,
});

const unrecognisedService = resource<UnrecognisedNotice>()('UnrecognisedService', {
  service: text,
  scope: text,
  spans: { ...count, description: 'Number of read spans.' },
  names: many(text, 'Some names of spans.'),
  keys: many(text, 'Some keys of attributes.'),
  dialects: many(text),
  missing: text,
  todo: text,
});

export const evaluabilitySchemas = schemasOf(unrecognisedService, evaluabilityRow);

/** A row for each label set of the evaluability counter. */
export function evaluabilityRows(families: readonly MetricFamily[]): readonly JsonObject[] {
  const points = families.find(({ name }) => name === 'tracejury.evaluability')?.points ?? [];
  return points.flatMap((point) => (point.kind === 'number' ? [evaluabilityRow.write({ labels: point.labels, count: point.value })] : []));
}

export const evaluabilityRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/evaluability',
    summary: 'Outcomes of each evaluator since the start of the service, by agent and dialect, with the missing data.',
    path_parameters: {},
    query_parameters: {},
    answer: object({
      evaluability: many(evaluabilityRow.schema),
      unrecognised: many(
        unrecognisedService.schema,
        'Services and scopes whose spans hold no agent, model call or tool call for eight seconds or longer.',
      ),
      next: { type: 'null' },
    }),
    handle: async ({ evaluability, unrecognised }) => ({
      evaluability: evaluability(),
      unrecognised: unrecognised().map(unrecognisedService.write),
      next: null,
    }),
  },
];
