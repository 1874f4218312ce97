/** Lines over time, drawn by uPlot. The legend names the value under the pointer; a table under the chart has all of them. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { timeText, unknownText } from './format.ts';

export interface LineSeries {
  readonly title: string;
  readonly values: readonly (number | null)[];
  /** A token of `tokens.css`. Default: `--accent`. */
  readonly colour?: `--${string}`;
  /** Text in the legend and at the axis. */
  readonly text?: (value: number) => string;
}

export interface LineChartProps {
  readonly title: string;
  /** RFC 3339, ascending. */
  readonly times: readonly string[];
  readonly series: readonly LineSeries[];
  readonly height?: number;
  /** Ends of the scale. Default: of the values. */
  readonly range?: readonly [low: number, high: number];
  /** Events, such as releases: a line each, and their names below the chart. */
  readonly marks?: readonly LineMark[];
}

export interface LineMark {
  /** RFC 3339. */
  readonly time: string;
  readonly title: string;
}

const noMarks: readonly LineMark[] = [];

export function LineChart({ title, times, series, height = 180, range, marks = noMarks }: LineChartProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = element.current;
    if (place === null) return undefined;
    let chart: uPlot | undefined;
    let isGone = false;
    // The library is loaded with the first chart.
    void Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]).then(([{ default: Chart }]) => {
      if (isGone) return;
      const [text, line] = [colourOf(place, '--text-dim'), colourOf(place, '--line')];
      const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
      const first = series[0]?.text;
      chart = new Chart(
        {
          width: Math.max(200, place.clientWidth),
          height,
          series: [
            {},
            ...series.map((one) => ({
              label: one.title,
              stroke: colourOf(place, one.colour ?? '--accent'),
              width: 2,
              ...(one.text === undefined ? {} : { value: (_: uPlot, value: number | null) => valueText(one, value) }),
            })),
          ],
          axes: [
            axis,
            { ...axis, ...(first === undefined ? {} : { values: (_: uPlot, values: number[]) => values.map(first) }), size: 64 },
          ],
          hooks: { draw: [(drawn: uPlot) => drawMarks(drawn, marks, colourOf(place, '--line-strong'))] },
          ...(range === undefined ? {} : { scales: { y: { range: [range[0], range[1]] as [number, number] } } }),
        },
        [times.map((time) => Date.parse(time) / 1_000), ...series.map(({ values }) => [...values])],
        place,
      );
    });
    const resized = new ResizeObserver(() => chart?.setSize({ width: Math.max(200, place.clientWidth), height }));
    resized.observe(place);
    return () => {
      isGone = true;
      resized.disconnect();
      chart?.destroy();
    };
  }, [JSON.stringify([times, series, height, range, marks])]);
  return (
    <figure class="line-chart">
      <figcaption>{title}</figcaption>
      <div ref={element} />
      {marks.length === 0 ? null : (
        <p class="dim small">
          Dashed lines:{' '}
          {marks.map(({ time, title }, at) => (
            <span key={`${time} ${title}`}>
              {at === 0 ? '' : ', '}
              <bdi>{title}</bdi> since {timeText(time)}
            </span>
          ))}
        </p>
      )}
      <details>
        <summary class="small">Values</summary>
        <table class="data">
          <caption class="visually-hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map((one) => (
                <th key={one.title} scope="col" class="number">
                  {one.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, at) => (
              <tr key={time}>
                <td>{timeText(time)}</td>
                {series.map((one) => (
                  <td key={one.title} class="number">
                    {valueText(one, one.values[at])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** A dashed line at each event inside the plot. */
function drawMarks(chart: uPlot, marks: readonly LineMark[], colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  for (const { time } of marks) {
    const x = Math.round(chart.valToPos(Date.parse(time) / 1_000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function valueText({ text }: LineSeries, value: number | null | undefined): string {
  if (value === null || value === undefined) return unknownText;
  return text === undefined ? String(value) : text(value);
}

/** A canvas does not know custom properties. */
function colourOf(place: HTMLElement, token: `--${string}`): string {
  const probe = document.createElement('span');
  probe.style.setProperty('color', `var(${token})`);
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
