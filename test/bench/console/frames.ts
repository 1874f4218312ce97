/** Frames while the longest list of a page scrolls, by Chromium's trace. */
import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  readonly args?: { readonly frame_reporter?: { readonly state?: string }; readonly chrome_frame_reporter?: { readonly state?: string } };
}

const stepPx = 240;
const steps = 120;
const stepMs = 16;

export async function framesWhileScrolling(browser: Browser, page: Page, say: (line: string) => void): Promise<void> {
  // Over the element that scrolls furthest.
  const place = await page.evaluate<{ readonly x: number; readonly y: number; readonly height: number }>(`(() => {
    const all = [...document.querySelectorAll('*')].filter((one) => one.scrollHeight > one.clientHeight + 200 && one.clientHeight > 100);
    const longest = all.reduce((a, b) => (a !== undefined && a.scrollHeight >= b.scrollHeight ? a : b), undefined) ?? document.documentElement;
    const box = longest.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: Math.max(box.top, 0) + Math.min(box.height, innerHeight) / 2, height: longest.scrollHeight };
  })()`);
  await page.mouse.move(place.x, Math.min(place.y, 800));
  await page.evaluate(
    'window.gaps = []; (function next(at) { requestAnimationFrame((now) => { window.gaps.push(now - at); next(now); }); })(performance.now())',
  );
  await browser.startTracing(page, {
    categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'cc', 'viz', 'benchmark'],
  });
  const startMs = performance.now();
  for (let step = 0; step < steps; step++) {
    await page.mouse.wheel(0, stepPx);
    await page.waitForTimeout(stepMs);
  }
  const tookMs = performance.now() - startMs;
  const gaps = (await page.evaluate<readonly number[]>('window.gaps')).toSorted((a, b) => a - b);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const count = (name: string): number => traceEvents.filter((event) => event.name === name && event.ph !== 'E' && event.ph !== 'e').length;
  const longTasks = traceEvents.filter(({ name, dur = 0 }) => name === 'RunTask' && dur > 50_000).map(({ dur = 0 }) => dur / 1_000);
  const at = (share: number): string => (gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0).toFixed(1);
  say(
    `\nscrolling ${place.height} px for ${(tookMs / 1_000).toFixed(1)} s: ${((gaps.length / tookMs) * 1_000).toFixed(1)} frames a second; between frames p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms; ` +
      `trace: ${count('DrawFrame')} drawn, ${count('DroppedFrame')} dropped, ${longTasks.length} tasks over 50 ms (longest ${Math.max(0, ...longTasks).toFixed(0)} ms)`,
  );
}
