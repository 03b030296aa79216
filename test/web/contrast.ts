/**
 * Runs in a page: texts whose contrast with their ground is below 4.5 (WCAG AA). Controls that are disabled may be pale.
 * Complete in itself, since only its own text reaches the page.
 */
export function textsWithLowContrast(): string[] {
  const parse = (color: string): [number, number, number, number] => {
    const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const luminance = ([r, g, b]: readonly number[]): number => {
    const channels = [r, g, b].map((value = 0) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * (channels[0] ?? 0) + 0.7152 * (channels[1] ?? 0) + 0.0722 * (channels[2] ?? 0);
  };
  const groundOf = (element: Element | null): readonly number[] => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const low: string[] = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent?.trim());
    if (text.join("") === "" || !element.checkVisibility() || element.matches(":disabled")) continue;
    const [one = 0, other = 0] = [luminance(parse(getComputedStyle(element).color)), luminance(groundOf(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 120)}`);
  }
  return low;
}
