/** `docs/reference/grafana-dashboard.json`: the panels of `panels.ts`, laid out for Grafana’s import. */
import { rows, type Panel, type Query, type Row } from './panels.ts';

const heights: { readonly [kind in Panel['kind']]: number } = { stat: 4, timeseries: 8, heatmap: 8, table: 8 };
const across = 24;
const source = { type: 'prometheus', uid: '${datasource}' };

export function dashboard(): string {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      type: 'row',
      title: row.title,
      collapsed: false,
      id: panels.length + 1,
      gridPos: { x: 0, y, w: across, h: 1 },
      panels: [],
    });
    const placed = places(row, y + 1);
    for (const { panel, gridPos } of placed) panels.push({ id: panels.length + 1, gridPos, ...panelJson(panel) });
    y = Math.max(...placed.map(({ gridPos }) => gridPos.y + gridPos.h));
  }
  return `${JSON.stringify({ ...head, panels }, undefined, 1)}\n`;
}

const variable = (name: string, label: string, query: string): object => ({
  name,
  label,
  type: 'query',
  datasource: source,
  query: { query, refId: name },
  definition: query,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: ['All'], value: ['$__all'] },
});

const head = {
  title: 'Tracejury',
  uid: 'tracejury',
  description: 'Scores of agent runs, agents, tools, judges, and the service itself.',
  tags: ['tracejury', 'agents'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  annotations: { list: [] },
  links: [],
  templating: {
    list: [
      { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus', refresh: 1, current: {} },
      variable('agent', 'Agent', 'label_values(tracejury_runs_total, gen_ai_agent_name)'),
      variable('evaluator', 'Evaluator', 'label_values(tracejury_evaluation_results_total, gen_ai_evaluation_name)'),
    ],
  },
};

interface Placed {
  readonly panel: Panel;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

/** From left to right; a panel that has no room begins a line. */
function places({ panels }: Row, top: number): readonly Placed[] {
  let [x, y, lineHeight] = [0, top, 0];
  return panels.map((panel) => {
    const h = heights[panel.kind];
    if (x + panel.width > across) [x, y, lineHeight] = [0, y + lineHeight, 0];
    const gridPos = { x, y, w: panel.width, h };
    [x, lineHeight] = [x + panel.width, Math.max(lineHeight, h)];
    return { panel, gridPos };
  });
}

function panelJson(panel: Panel): object {
  return {
    type: panel.kind,
    title: panel.title,
    description: panel.description,
    datasource: source,
    targets: panel.queries.map((query, at) => target(panel, query, at)),
    fieldConfig: {
      defaults: { unit: panel.unit, min: panel.min ?? 0, ...(panel.max === undefined ? {} : { max: panel.max }), custom: custom(panel) },
      overrides: [],
    },
    options: options[panel.kind],
    ...(panel.kind === 'table' ? { transformations: [{ id: 'organize', options: { excludeByName: { Time: true } } }] } : {}),
  };
}

function target({ kind, hasExemplars }: Panel, { expr, legend }: Query, at: number): object {
  const isInstant = kind === 'stat' || kind === 'table';
  return {
    refId: String.fromCharCode(65 + at),
    datasource: source,
    expr,
    legendFormat: legend === '' ? '__auto' : legend,
    instant: isInstant,
    range: !isInstant,
    exemplar: hasExemplars === true,
    ...(kind === 'table' ? { format: 'table' } : kind === 'heatmap' ? { format: 'heatmap' } : {}),
  };
}

function custom({ kind, isStacked }: Panel): object {
  if (kind !== 'timeseries') return {};
  return {
    drawStyle: 'line',
    lineInterpolation: 'linear',
    showPoints: 'never',
    spanNulls: false,
    fillOpacity: isStacked === true ? 30 : 0,
    stacking: { mode: isStacked === true ? 'normal' : 'none', group: 'A' },
  };
}

const options: { readonly [kind in Panel['kind']]: object } = {
  stat: { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'none', graphMode: 'none', textMode: 'value' },
  timeseries: { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi', sort: 'desc' } },
  heatmap: { calculate: false, yAxis: { unit: 'short' }, color: { scheme: 'Blues', steps: 32 }, tooltip: { mode: 'single' } },
  table: { showHeader: true, cellHeight: 'sm' },
};
