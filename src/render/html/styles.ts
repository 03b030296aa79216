/**
 * The look of a session: of the exported file and of a live page. Colours are custom properties, light by default and
 * dark where the reader prefers it; each text colour has a contrast of at least 4.5 on the grounds it stands on.
 */
const LIGHT = `
--page:#f6f6f3;--surface:#fff;--code:#fafaf8;--line:#dfe1e4;--text:#1d232b;--soft:#5b6570;--accent:#0b5cad;
--keyword:#8b2a9b;--string:#17693d;--comment:#5f6a75;--number:#a04400;--name:#0b5cad;--builtin:#00677f;
--decorator:#845400;--field:#7a5200;--error:#b3261e;--error-ground:#fdf3f2;--warning:#855000;--warning-ground:#fdf8ee;
--c0:#1d232b;--c1:#b3261e;--c2:#17693d;--c3:#845400;--c4:#0b5cad;--c5:#8b2a9b;--c6:#00677f;--c7:#5b6570;
--c8:#5b6570;--c9:#c5221f;--c10:#1a7a3c;--c11:#8f5b00;--c12:#1a66c9;--c13:#9b35ac;--c14:#00728c;--c15:#3c444d;`;

const DARK = `
--page:#0e1115;--surface:#151a20;--code:#191f27;--line:#2c343e;--text:#e3e8ee;--soft:#9aa5b1;--accent:#7fb6ff;
--keyword:#d9a3f2;--string:#93d3a2;--comment:#8d99a5;--number:#f2b680;--name:#8fbfff;--builtin:#74d0e0;
--decorator:#e6c27a;--field:#e6c27a;--error:#ff9f96;--error-ground:#251a1c;--warning:#efc27c;--warning-ground:#221d14;
--c0:#8d99a5;--c1:#ff9f96;--c2:#93d3a2;--c3:#e6c27a;--c4:#8fbfff;--c5:#d9a3f2;--c6:#74d0e0;--c7:#c4ccd5;
--c8:#9aa5b1;--c9:#ffb4ac;--c10:#aee5ba;--c11:#f2d596;--c12:#abd0ff;--c13:#e6c0f7;--c14:#97e1ee;--c15:#fff;`;

const PAGE = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
pre,code,.number{font-family:ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:-2px;border-radius:4px}
header.page,main{max-width:64rem;margin:0 auto;padding:0 1.25rem}
header.page{padding-top:2.5rem;padding-bottom:1.5rem;padding-left:6.25rem}
header.page p{margin:0;color:var(--soft);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase}
header.page h1{margin:.1rem 0 .35rem;font-size:1.9rem;line-height:1.2;letter-spacing:-.01em;overflow-wrap:anywhere}
header.page ul{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;margin:0;padding:0;list-style:none;color:var(--soft);font-size:.9rem}
main{padding-bottom:5rem}
.empty{padding-left:5rem;color:var(--soft)}
@media (max-width:44rem){header.page,main{padding-left:.75rem;padding-right:.75rem}header.page{padding-top:1.5rem}.empty{padding:0}}`;

const BLOCK = `
.block{display:grid;grid-template-columns:4.25rem minmax(0,1fr);gap:.75rem;margin:0 0 1.1rem;scroll-margin-top:1rem}
.block>header{display:flex;flex-direction:column;align-items:flex-end;gap:.2rem;padding-top:.6rem}
.block .number{color:var(--soft);font-size:.85rem;text-decoration:none}
.block .number:hover{color:var(--accent);text-decoration:underline}
.block .time{color:var(--soft);font-size:.72rem;white-space:nowrap}
.block .chip{padding:.05rem .4rem;border:1px solid var(--line);border-radius:1rem;color:var(--soft);font-size:.68rem;line-height:1.35;text-align:center}
.block .chip.timeout,.block .chip.cancelled,.block .chip.interrupted{border-color:currentColor;color:var(--warning)}
.block .chip.died{border-color:currentColor;color:var(--error)}
.block .chip.running{border-color:currentColor;color:var(--accent)}
.block[data-status=error] .number,.block[data-status=died] .number{color:var(--error)}
.block .body{min-width:0;overflow:hidden;border:1px solid var(--line);border-radius:10px;background:var(--surface)}
.block:target .body{border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.block.gone .body{border-style:dashed}
.block pre{margin:0;padding:.65rem .9rem;overflow:auto;font-size:.84rem;line-height:1.55;tab-size:4}
.block pre.code{background:var(--code)}
.block .output{border-top:1px solid var(--line)}
.block .body>.output:first-child{border-top:0}
.block .output>*+*{border-top:1px solid var(--line)}
.block .output>pre.stdout+pre.stderr,.block .output>pre.stderr+pre.stdout{border-top:0}
.block pre.text{max-height:36rem}
.block pre.stderr{background:var(--warning-ground);box-shadow:inset 3px 0 var(--warning)}
.block pre.shown{white-space:pre-wrap;overflow-wrap:anywhere}
.block .mark,.block .note,.block .files{margin:0;padding:.35rem .9rem;color:var(--soft);font-size:.8rem}
.block .files{overflow-wrap:anywhere}
.block .note{background:var(--warning-ground);color:var(--warning)}
.block figure{margin:0;padding:.75rem .9rem}
.block img{display:block;max-width:100%;height:auto;border-radius:4px;background:#fff}
.block iframe{display:block;width:100%;max-width:100%;min-height:4rem;border:0;resize:vertical;overflow:auto}
.block .control{padding:0 .2em;border-radius:3px;background:var(--error);color:var(--surface);font-size:.8em}
.block .error{background:var(--error-ground)}
.block .error>summary{padding:.6rem .9rem;color:var(--error);font-size:.9rem;overflow-wrap:anywhere;cursor:pointer}
.block .error .name{font-weight:600}
.block .error>pre{border-top:1px solid var(--line)}
@media (max-width:44rem){
.block{grid-template-columns:minmax(0,1fr);gap:.3rem}
.block>header{flex-flow:row wrap;align-items:center;gap:.6rem;padding:0 .2rem}
.block .time{margin-left:auto}
.block pre{padding:.6rem .75rem;font-size:.8rem}}
@media print{.block pre.text,.block .table{max-height:none}.block pre{white-space:pre-wrap}.block{break-inside:avoid}}
@media (prefers-reduced-motion:no-preference){
.block .chip.running{animation:running 1.6s ease-in-out infinite}@keyframes running{50%{opacity:.45}}}`;

const TABLE = `
.block .table{max-height:32rem;overflow:auto}
.block table{border-collapse:collapse;font-size:.84rem;font-variant-numeric:tabular-nums}
.block caption{padding:.35rem .9rem;color:var(--soft);font-size:.78rem;text-align:left;caption-side:bottom;white-space:nowrap}
.block th,.block td{max-width:28rem;padding:.3rem .9rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;white-space:pre-wrap;overflow-wrap:break-word}
.block th{position:sticky;top:0;background:var(--surface);font-weight:600;white-space:nowrap}
.block .num{text-align:right}
.block tbody tr:hover td{background:var(--code)}`;

const CODE = `
.k{color:var(--keyword)}.s{color:var(--string)}.i{color:var(--field)}.c{color:var(--comment);font-style:italic}
.n{color:var(--number)}.f{color:var(--name);font-weight:600}.b{color:var(--builtin)}.d,.m{color:var(--decorator)}
.v{color:var(--number)}.x{color:var(--error);text-decoration:underline wavy}
.bold{font-weight:700}.dim{opacity:.75}.italic{font-style:italic}.underline{text-decoration:underline}
.strike{text-decoration:line-through}.underline.strike{text-decoration:underline line-through}
.fg-inverse{color:var(--surface)}.bg-inverse{background:var(--text)}`;

/** Where a ground is set, both colours are a terminal's, the same in light and dark. */
const TERMINAL =
  "16191d b3261e 2f9e5b d9a400 1f5fbf 9c36b5 1098ad d5dae0 5b6570 e5534b 56c27d f2cc3d 5b9bf0 cc6fe0 3cc4d9 ffffff";
const LIGHT_ON_DARK = new Set([0, 1, 4, 5, 8]);

const ANSI = TERMINAL.split(" ")
  .map((hex, index) => {
    const text = LIGHT_ON_DARK.has(index) ? "#fff" : "#16191d";
    return `.fg-${index}{color:var(--c${index})}.bg-${index}{background:#${hex};color:${text}}[class*=bg-].fg-${index}{color:#${hex}}`;
  })
  .join("");

export const STYLES = `:root{color-scheme:light dark;${LIGHT}}
@media (prefers-color-scheme:dark){:root{${DARK}}}
${PAGE}${BLOCK}${TABLE}${CODE}${ANSI}`.replaceAll("\n", "");
