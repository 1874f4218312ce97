/** Latency of an answer at half of the load that the service can bear. */
import { setTimeout as pause } from 'node:timers/promises';
import { bed, floodAddress, saturation, settled, templateSpans } from './bed.ts';
import { below, quantile, tell } from './conditions.ts';
import { flooding } from './flooding.ts';
import type { Page } from './metrics-page.ts';

const answerMsMax = 25;
const connections = 16;

/** Refused requests by what was too high. */
function strains(page: Page): ReadonlyMap<string, number> {
  return page.by('tracejury_stress_refused_total', 'tracejury_strain');
}

export async function latencyBench({ seconds }: { readonly seconds: number }): Promise<boolean> {
  const on = await bed();
  try {
    const rate = await saturation(on, 30, 1);
    process.stderr.write(`saturated at ${Math.round(rate)} spans/s\n`);
    await settled(on);
    const before = strains(await on.page());
    const flood = flooding({ url: on.otlpUrl, from: floodAddress, connections, spansPerSecond: rate / 2, sender: 2, spans: templateSpans });
    await pause(seconds * 1_000);
    const { latenciesMs, statuses } = await flood.counts();
    await flood.stop();
    flood.end();
    const after = strains(await on.page());
    const why = [...after].flatMap(([strain, count]) => {
      const more = count - (before.get(strain) ?? 0);
      return more === 0 ? [] : [`${strain} ${more}`];
    });
    return tell(`Answers at ${Math.round(rate / 2)} spans/s, half of saturation, for ${seconds} s: ${latenciesMs.length} requests`, [
      { what: 'half of them within', wanted: '', measured: `${quantile(latenciesMs, 0.5).toFixed(1)} ms`, holds: true },
      below('99 of 100 within', answerMsMax, quantile(latenciesMs, 0.99), 'ms', 1),
      {
        what: 'refused',
        wanted: '0',
        measured: [statuses.filter(([status]) => status !== '200').reduce((sum, [, count]) => sum + count, 0), ...why].join(', '),
        holds: statuses.every(([status]) => status === '200'),
      },
    ]);
  } finally {
    await on.stop();
  }
}
