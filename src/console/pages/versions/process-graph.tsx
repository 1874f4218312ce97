/** The learnt process as a picture: tools with their calls, steps with their shares, and what is unusual. */
import { useMemo } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { pageAddress } from '../../parts/address.ts';
import { countText, lineText, percentText } from '../../parts/format.ts';
import { ScrollFrame } from '../../parts/scroll-frame.tsx';
import { type PlacedEdge, type PlacedNode, processLayout } from './process-layout.ts';
import { type ProcessData, rareShare } from './process-steps.ts';

export interface ProcessGraphProps {
  readonly agent: string;
  readonly version: string | undefined;
  readonly data: ProcessData;
  readonly drift: Schemas['ProcessDrift'] | null;
}

const nameCharsMax = 22;
/** A step whose share differs by more from the version before is marked. */
const changedShare = 0.1;

export function ProcessGraph({ agent, version, data, drift }: ProcessGraphProps) {
  const layout = useMemo(() => processLayout(data), [data]);
  const { width, height, nodes, edges, toolsLeftOut, stepsLeftOut } = layout;
  const before = new Map((drift?.steps ?? []).map((step) => [JSON.stringify([step.from, step.to]), step]));
  const fresh = new Set(drift?.new_tools);
  const left = [count(toolsLeftOut, 'tool'), count(stepsLeftOut, 'step')].filter((text) => text !== '');
  return (
    <figure class="process">
      <ScrollFrame class="process-frame" label="Graph of the process">
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="group"
          aria-label={`Process of ${countText(data.runs)} runs`}
        >
          {edges.map((edge) => (
            <Edge key={edge.key} edge={edge} change={before.get(JSON.stringify([edge.fromName, edge.toName]))} />
          ))}
          {nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              isNew={fresh.has(node.name)}
              address={pageAddress('/runs', { range: '30d', agent, version, tool: node.name })}
            />
          ))}
        </svg>
      </ScrollFrame>
      <figcaption class="dim small">
        A number beside a step is its share of the steps from that tool. Dashed: unusual, taken in fewer than {percentText(rareShare)} of
        the runs with that tool.
        {drift === null ? '' : ' Bold with “was”: the share differs by more than ten points from the version before.'}
        {left.length === 0 ? '' : ` ${left.join(' and ')} of lower frequency stand in the table alone.`} A tool leads to its runs.
      </figcaption>
    </figure>
  );
}

function count(number: number, what: string): string {
  return number === 0 ? '' : `${number} ${what}${number === 1 ? '' : 's'}`;
}

function Node({ node, isNew, address }: { readonly node: PlacedNode; readonly isNew: boolean; readonly address: string }) {
  const { kind, name, calls, runs, x, y, width, height } = node;
  const box = (
    <>
      <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={kind === 'tool' ? 6 : height / 2} />
      <text class="name" x={x} y={y - 3} text-anchor="middle">
        {lineText(name, nameCharsMax)}
      </text>
      <text class="count" x={x} y={y + 13} text-anchor="middle">
        {kind === 'tool' ? `${countText(calls)} calls in ${countText(runs)} runs${isNew ? ' · new' : ''}` : `${countText(runs)} runs`}
      </text>
    </>
  );
  if (kind !== 'tool') return <g class="node end">{box}</g>;
  return (
    <a href={address} class={isNew ? 'node new' : 'node'}>
      <title>{`${name}: ${calls} calls in ${runs} runs`}</title>
      {box}
    </a>
  );
}

interface EdgeProps {
  readonly edge: PlacedEdge;
  readonly change: Schemas['ProcessDrift']['steps'][number] | undefined;
}

function Edge({ edge, change }: EdgeProps) {
  const { fromName, toName, times, runs, share, isRare, isBack, path, arrow, labelX, labelY } = edge;
  const isChanged = change !== undefined && Math.abs(change.now.share - change.before.share) > changedShare;
  const was = isChanged ? ` (was ${percentText(change.before.share)})` : '';
  const names = ['edge', isRare ? 'rare' : '', isChanged ? 'changed' : '', isBack ? 'back' : ''].filter((one) => one !== '').join(' ');
  return (
    <g class={names}>
      <title>{`${fromName ?? 'start'} → ${toName ?? 'end'}: ${times} times, ${percentText(share)} of the steps from there, in ${runs} runs${was}`}</title>
      <path class="line" d={path} stroke-width={1 + 2.5 * share} />
      <path class="arrow" d={arrow} />
      {share === 1 && !isChanged ? null : (
        <text class="share" x={labelX} y={labelY} text-anchor="middle">
          {percentText(share)}
          {was}
        </text>
      )}
    </g>
  );
}
