/** What the pages add to the look of a session; colours are those of the session's stylesheet. */
const FRAME = `
.bar{position:sticky;top:0;z-index:3;display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 1rem;
padding:.55rem 1.25rem;border-bottom:1px solid var(--line);background:var(--page);font-size:.9rem}
.bar nav{overflow-wrap:anywhere}
.bar [aria-hidden]{color:var(--soft)}
.bar form{display:flex;align-items:center;gap:.75rem;margin:0;color:var(--soft)}
.skip,.hidden{position:absolute;left:-99rem}
.skip:focus{left:.5rem;top:.5rem;z-index:9;padding:.5rem .75rem;border-radius:8px;background:var(--surface)}
header.page{display:grid;gap:.35rem;padding-top:2rem}
#facts li.state,.row .state{display:inline-flex;align-items:center;gap:.4rem}
.state::before{content:"";width:.55rem;height:.55rem;border:1.5px solid var(--soft);border-radius:50%}
.state.alive::before{border-color:var(--string);background:var(--string)}
.state.busy{color:var(--accent)}
.state.busy::before{border-color:var(--accent);background:var(--accent)}
.tools{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.6rem}
main[data-live]{scroll-padding-top:4rem}
.block{scroll-margin-top:4rem}
.block>.body{align-self:start}
.pages{margin:0 0 1.1rem;padding-left:5rem}
#notice{margin:0 0 1rem 5rem;padding:.55rem .9rem;border:1px solid var(--line);border-radius:10px;background:var(--surface);font-size:.9rem}
#notice:empty{display:none}
#notice.problem,.problem{border-color:currentColor;background:var(--error-ground);color:var(--error)}
.ended #items,.ended .editor{opacity:.6}
@media (max-width:44rem){.bar{padding:.5rem .75rem}.pages{padding:0}#notice{margin-left:0}}`;

const CONTROLS = `
button,.button,.menu>summary{display:inline-block;padding:.34rem .8rem;border:1px solid var(--line);border-radius:8px;background:var(--surface);
color:var(--text);font:inherit;font-size:.88rem;line-height:1.4;text-decoration:none;cursor:pointer}
button:hover,.button:hover,.menu>summary:hover{border-color:var(--soft)}
button:disabled{border-color:var(--line);color:var(--soft);opacity:.6;cursor:default}
button.primary{border-color:var(--accent);background:var(--accent);color:var(--surface);font-weight:600}
button.primary:hover{filter:brightness(1.1)}
button.plain{padding:0;border:0;background:none;color:var(--accent);text-decoration:underline}
.danger{color:var(--error)}
#interrupt:enabled{border-color:currentColor;color:var(--error)}
input,textarea{padding:.45rem .65rem;border:1px solid var(--soft);border-radius:8px;background:var(--surface);color:var(--text);font:inherit}
::placeholder{color:var(--soft);opacity:1}
.menu{position:relative;display:inline-block}
.menu>summary{list-style:none}
.menu>summary::-webkit-details-marker{display:none}
.menu>div{position:absolute;z-index:2;top:calc(100% + .3rem);left:0;display:grid;min-width:15rem;padding:.3rem;border:1px solid var(--line);
border-radius:10px;background:var(--surface);box-shadow:0 8px 28px #0003}
.menu>div>*{padding:.4rem .7rem;border:0;border-radius:6px;background:none;color:var(--text);font-size:.88rem;line-height:1.4;text-align:left;text-decoration:none}
.menu>div>.danger{color:var(--error)}
.menu>div>:hover{background:var(--page)}
.block>header>button{padding:.1rem .5rem;border-color:currentColor;color:var(--error);font-size:.75rem}
.block .menu>summary{padding:0 .45rem;border-color:transparent;background:none;color:var(--soft);line-height:1.5}
@media (max-width:44rem){.block .menu{margin-left:auto}.block .time+.menu{margin-left:0}.block .menu>div{left:auto;right:0}}
.block:hover .menu>summary,.block .menu>summary:focus-visible,.block .menu[open]>summary{border-color:var(--line);background:var(--surface)}`;

const EDITOR = `
.editor textarea{display:block;width:100%;border:0;border-radius:10px 10px 0 0;background:var(--code);padding:.65rem .9rem;resize:vertical;
font:.84rem/1.55 ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;tab-size:4}
.editor footer{display:flex;align-items:center;gap:.75rem;padding:.5rem .9rem;border-top:1px solid var(--line)}
.editor .body:focus-within{border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.editor textarea:focus{outline:0}
.hint{color:var(--soft);font-size:.8rem}
@media (pointer:coarse){.hint{display:none}.editor textarea,input{font-size:16px}button,.button,.menu>summary{padding:.5rem .9rem}}`;

const LISTS = `
main.card{max-width:30rem;margin-top:9vh;padding:1.75rem 2rem 2rem;border:1px solid var(--line);border-radius:14px;background:var(--surface)}
main.card h1{margin:0 0 .75rem;font-size:1.4rem;overflow-wrap:anywhere}
main.card form{display:grid;gap:.6rem;justify-items:start}
main.card label{font-weight:600}
main.card input{width:100%}
main.card #hint{margin:0;color:var(--soft);font-size:.88rem}
main.card .problem{margin:0;padding:.45rem .7rem;border:1px solid;border-radius:8px;font-size:.9rem}
main.sessions{max-width:56rem;padding-top:2rem}
main.sessions h1{margin:0 0 1rem;font-size:1.9rem;letter-spacing:-.01em}
main.sessions #notice{margin-left:0}
#items{margin:0;padding:0;list-style:none}
.row{display:grid;grid-template-columns:minmax(0,1fr) 8.5rem 6rem 6.5rem 11rem;gap:.25rem 1rem;align-items:center;margin:0 0 .5rem;padding:.75rem 1rem;
border:1px solid var(--line);border-radius:10px;background:var(--surface);color:var(--soft);font-size:.9rem;text-decoration:none}
.row:hover{border-color:var(--accent)}
.row strong{color:var(--text);font-size:1rem;overflow-wrap:anywhere}
.row .last{text-align:right}
.create{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem;margin-top:1.5rem}
.create input{flex:1 1 14rem;max-width:24rem}
@media (max-width:44rem){main.card{margin:6vh .75rem 0;padding:1.25rem}.row{grid-template-columns:minmax(0,1fr) auto}.row .last{text-align:left}
.row span:nth-of-type(3){display:none}}`;

export const PAGE_STYLES = (FRAME + CONTROLS + EDITOR + LISTS).replaceAll("\n", "");
