/** Traces of Jaeger's query service: `GET /api/traces` of a service, for a piece of the period at a time. */
import { jaegerBlocks } from '../../inspect/exported-forms.ts';
import { behind, halved, type ImportBackend, listIn, pieceAt } from './backend.ts';

/** Jaeger has no cursor: a piece with more traces is read in halves. */
const tracesOfPiece = 200;

export const jaeger: ImportBackend = {
  title: 'Jaeger',
  project: { noun: 'service', isNeeded: true },
  async page(ask, wanted, cursor) {
    const piece = pieceAt(wanted, cursor);
    const answer = await ask('/api/traces', {
      query: { service: wanted.project, start: piece.from, end: piece.to - 1, limit: tracesOfPiece },
    });
    const traces = listIn(answer, 'data', 'Jaeger');
    if (traces.length >= tracesOfPiece) return { blocks: [], next: halved(piece, 'Jaeger') };
    return { blocks: traces.flatMap(jaegerBlocks), next: behind(piece, wanted, traces.length > tracesOfPiece / 4) };
  },
};
