/** Traces of Grafana Tempo: `GET /api/search` for their ids, a piece of the period at a time, then each by its id. */
import { type JsonObject, objectsAt } from '../../../model/json.ts';
import { otlpOf, textIn } from '../../inspect/exported-forms.ts';
import { behind, halved, ImportFault, type ImportBackend, listIn, pieceAt } from './backend.ts';

/** A search has no cursor: a piece with more traces is read in halves. */
const tracesOfPiece = 100;
const microsPerSecond = 1_000_000;

export const tempo: ImportBackend = {
  title: 'Tempo',
  project: { noun: 'service', isNeeded: false },
  async page(ask, wanted, cursor) {
    const piece = pieceAt(wanted, cursor);
    const found = await ask('/api/search', {
      query: {
        start: Math.floor(piece.from / microsPerSecond),
        end: Math.ceil(piece.to / microsPerSecond),
        limit: tracesOfPiece,
        q: wanted.project === undefined ? undefined : `{ resource.service.name = ${JSON.stringify(wanted.project)} }`,
      },
    });
    const traces = listIn(found, 'traces', 'Tempo');
    if (traces.length >= tracesOfPiece) return { blocks: [], next: halved(piece, 'Tempo') };
    const blocks: JsonObject[] = [];
    for (const trace of traces) {
      const id = textIn(trace, 'traceID');
      if (id === '') throw new ImportFault('Tempo answers a search with a trace without traceID.');
      const request = otlpOf(await ask(`/api/traces/${encodeURIComponent(id)}`));
      if (request === undefined) throw new ImportFault(`Tempo answers trace ${id} without spans.`);
      blocks.push(...objectsAt(request, 'resourceSpans'));
    }
    return { blocks, next: behind(piece, wanted, traces.length > tracesOfPiece / 4) };
  },
};
