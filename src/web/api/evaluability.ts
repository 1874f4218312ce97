/** The route of evaluability: what evaluators could score since the start, and spans without a recognised agent. */
import { wire } from '../../model/attributes.ts';
import type { JsonObject } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
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

const evaluabilityRow = api.resource<EvaluabilityPoint>()('EvaluabilityRow', {
  agent: [api.text, label(wire.agentName)],
  dialect: [api.text, label('tracejury.dialect')],
  name: [api.text, label(wire.evaluationName)],
  outcome: [api.text, label('tracejury.outcome')],
  reason: [api.textOrNull(), ({ labels }) => labels['tracejury.reason'] || null],
  need: [api.textOrNull(), ({ labels }) => labels['tracejury.need'] || null],
  missing: [api.textOrNull('The missing part, in words. Null when nothing is missing.'), (point) => neededOf(point).missing],
  todo: [
    api.textOrNull('The setting that supplies it: of the SDK of the dialect, or of this service. Null when no setting is known.'),
    (point) => neededOf(point).todo,
  ],
  count: api.count,
});

const unrecognisedService = api.resource<UnrecognisedNotice>()('UnrecognisedService', {
  service: api.text,
  scope: api.text,
  spans: { ...api.count, description: 'Number of read spans.' },
  names: api.many(api.text, 'Some names of spans.'),
  keys: api.many(api.text, 'Some keys of attributes.'),
  dialects: api.many(api.text),
  missing: api.text,
  todo: api.text,
});

export const evaluabilitySchemas = api.schemasOf(unrecognisedService, evaluabilityRow);

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
    answer: api.object({
      evaluability: api.many(evaluabilityRow.schema),
      unrecognised: api.many(
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
