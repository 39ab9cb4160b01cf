// Maps over two pictures and their difference, all without a rerun. Streamlit calls the default function again at
// each rerun with the same elements: handlers are assigned, and what the person set is kept while the answers stay.

const views = new WeakMap()
const SIDES = ["left", "right", "apart"]

const clamp = (value, low, high) => Math.min(Math.max(value, low), high)
const middleCovered = (offset, drawn, room) => clamp(offset, room / 2 - drawn, room / 2)
const mean = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length
const largest = (maps) => maps.reduce((most, map) => map.values.reduce((top, one) => Math.max(top, Math.abs(one)), most), 0)

function floats(text) {
  return new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer)
}

function meanOf(stack, size, places) {
  return Array.from({ length: size }, (_, cell) => mean(places.map((place) => stack[place * size + cell])))
}

// How much of each of `from` equal stretches falls into each of `to`; rows are the latter.
function overlaps(from, to) {
  const shared = (a, b) => Math.max(0, Math.min((a + 1) / from, (b + 1) / to) - Math.max(a / from, b / to)) * from
  return Array.from({ length: to }, (_, b) => Array.from({ length: from }, (_, a) => shared(a, b)))
}

function resampled(map, rows, columns) {
  if (map.rows === rows && map.columns === columns) return map
  const [down, across] = [overlaps(map.rows, rows), overlaps(map.columns, columns)]
  const values = down.flatMap((of) => across.map((on) => of.reduce((sum, share, row) =>
    share ? sum + share * on.reduce((part, other, column) => part + other * map.values[row * map.columns + column], 0) : sum, 0)))
  return { ...map, rows, columns, values }
}

function mixed(colors, share) {
  const at = clamp(share, 0, 1) * (colors.length - 1)
  const low = Math.min(Math.floor(at), colors.length - 2)
  const channel = (color, place) => parseInt(color.slice(1 + 2 * place, 3 + 2 * place), 16)
  return [0, 1, 2].map((place) => Math.round(channel(colors[low], place) + (channel(colors[low + 1], place) - channel(colors[low], place)) * (at - low)))
}

function percent(share) {
  const value = 100 * share
  return `${value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value ? value.toPrecision(2) : 0}\u00a0%`
}

function signed(value, words) {
  return `${value < 0 ? "−" : value > 0 ? "+" : ""}${words(Math.abs(value))}`
}

export default function ({ data, parentElement }) {
  const find = (selector) => parentElement.querySelector(selector)
  const all = (selector) => [...parentElement.querySelectorAll(selector)]
  const n = data.panes.length
  const sides = n === 2 ? SIDES : SIDES.slice(0, 1)
  const of = (part, side) => find(`.${part}.${side}`)
  const frames = sides.map((side) => of("frame", side))
  const root = find(".looks")

  let view = views.get(parentElement)
  if (view?.url !== data.url) view = { url: data.url, scale: 1, x: 0, y: 0, fit: true, kind: "attention", opacity: 60, threshold: 0, shown: true }
  if (view.answers !== data.answers) Object.assign(view, { answers: data.answers, pieces: data.panes.map(() => null), layer: 0, cell: null })
  views.set(parentElement, view)

  const maps = data.panes.map((pane) => ({
    tokens: pane.token_maps && floats(pane.token_maps), layers: pane.layer_maps && floats(pane.layer_maps), gradient: pane.gradient_map && floats(pane.gradient_map),
  }))
  const isGradient = () => view.kind === "gradient"
  const number = (value) => isGradient() ? (value ? value.toPrecision(3) : "0") : percent(value)
  const difference = (value) => isGradient() ? signed(value, number) : `${signed(value, (size) => percent(size).slice(0, -2))} points`

  // What a pane shows now: values in cells, what they add up to, and what that would be, were attention even.
  function chosen(index) {
    const [pane, own] = [data.panes[index], maps[index]]
    const size = pane.rows * pane.columns
    const map = (values, total, even, name) => ({ rows: pane.rows, columns: pane.columns, values, total, even, name })
    if (isGradient()) return map(own.gradient && [...own.gradient], null, null, own.gradient ? "whole answer" : `No map: ${pane.why_no_map || pane.why_no_gradient}`)
    const picked = view.pieces[index]
    if (picked !== null) {
      const { tokens, text } = pane.pieces[picked]
      const share = (shares) => mean(tokens.map((token) => shares[token]))
      return map(own.tokens && meanOf(own.tokens, size, tokens), share(pane.token_shares), share(pane.token_even), `“${pieceText(text)}”, all layers`)
    }
    if (view.layer > pane.layer_shares.length) return map(null, null, null, `No map: this VLM has ${pane.layer_shares.length} ${pane.layer_shares.length === 1 ? "layer" : "layers"}.`)
    if (view.layer) {
      const at = view.layer - 1
      return map(own.layers && meanOf(own.layers, size, [at]), pane.layer_shares[at], pane.layer_even[at], `whole answer, layer ${view.layer}`)
    }
    return map(own.tokens && meanOf(own.tokens, size, pane.pieces.flatMap((piece) => piece.tokens)), pane.fraction, pane.even, "whole answer, all layers")
  }

  // A piece as it is drawn: what cannot be seen has a sign, and letters that run from right to left turn nothing else.
  function pieceText(text) {
    const shown = text.replaceAll("\n", "↵")
    if (!shown) return "(no text)"
    if (/^[\p{Z}\p{Cc}\p{Cf}]*$/u.test(shown)) return "␣"
    return /[\p{Bidi_Control}\u0590-\u08ff]/u.test(shown) ? `\u2068${shown.trim()}\u2069` : shown.trim()
  }
  let drawn = []

  function paint() {
    const asked = data.panes.map((_, index) => chosen(index))
    const there = asked.filter((map) => map.values)
    const [rows, columns] = ["rows", "columns"].map((side) => Math.min(...there.map((map) => map[side])))
    const shown = asked.map((map) => map.values ? resampled(map, rows, columns) : map)
    const top = largest(there.length ? shown.filter((map) => map.values) : [])
    let apart = null, apartTop = 0
    if (n === 2 && there.length === 2) {
      apart = { ...shown[0], values: shown[0].values.map((value, cell) => value - shown[1].values[cell]) }
      apartTop = largest([apart])
    }
    drawn = [...shown, ...(n === 2 ? [apart] : [])]
    sides.forEach((side, index) => {
      const map = drawn[index]
      const isApart = side === "apart"
      const frame = frames[index]
      const canvas = frame.querySelector("canvas")
      canvas.hidden = !map?.values || !view.shown
      canvas.style.opacity = view.opacity / 100
      if (map?.values) colour(canvas, map, isApart ? apartTop : top, isApart ? data.diverging : data.sequential, isApart)
      canvas.setAttribute("aria-label", alt(side, index, map))
      frame.querySelector(".message").textContent = isApart ? whyNoDifference(asked) : map.values || !data.url ? "" : (data.panes[index].why_no_map ? `No map: ${data.panes[index].why_no_map}` : map.name)
      of("head", side).querySelector(".what").textContent = isApart ? differenceWords(shown, apartTop) : whatWords(map)
    })
    const resized = n === 2 && there.length === 2 && (asked[0].rows !== asked[1].rows || asked[0].columns !== asked[1].columns)
    find(".notes .grids").textContent = resized ? `The maps have ${asked.map((map) => `${map.rows} × ${map.columns}`).join(" and ")} cells; both are shown on ${rows} × ${columns}, by area.` : ""
    bars(shown, top, apart, apartTop)
    read()
  }

  function colour(canvas, map, top, colors, isApart) {
    Object.assign(canvas, { width: map.columns, height: map.rows })
    const pen = canvas.getContext("2d")
    const pixels = pen.createImageData(map.columns, map.rows)
    map.values.forEach((value, cell) => {
      const share = top ? value / top : 0
      const [size, rgb] = [Math.abs(share), isApart ? mixed(colors, share > 0 ? 1 : 0) : mixed(colors, share)]
      const alpha = size < view.threshold / 100 ? 0 : isApart ? Math.round(255 * size) : 255
      pixels.data.set([...rgb, alpha], 4 * cell)
    })
    pen.putImageData(pixels, 0, 0)
  }

  function whatWords(map) {
    if (!map.values && map.total === null) return map.name
    return map.total === null ? map.name : `${map.name}: ${percent(map.total)} of attention on the image, ${percent(map.even)} if even`
  }
  const whyNoDifference = (asked) => asked.every((map) => map.values) || !data.url ? "" :
    `No difference: there is no such map of ${asked.flatMap((map, index) => map.values ? [] : data.panes[index].title).join(" and ")}.`
  function differenceWords(shown, apartTop) {
    if (!shown.every((map) => map.values)) return ""
    const [left, right] = shown.map((map) => map.name)
    return `${left === right ? left : `${left} − ${right}`}${apartTop ? "" : ": the two maps are the same"}`
  }

  function alt(side, index, map) {
    if (!map?.values) return "No map is drawn."
    const sizes = map.values.map(Math.abs)
    const at = sizes.indexOf(Math.max(...sizes))
    const place = data.places[3 * Math.min(2, Math.floor(3 * (Math.floor(at / map.columns) + 0.5) / map.rows)) + Math.min(2, Math.floor(3 * (at % map.columns + 0.5) / map.columns))]
    if (side === "apart") {
      const more = map.values[at] < 0 ? 1 : 0
      return `The two differ most at the ${place}, where ${data.panes[more].title} has more: ${difference(Math.abs(map.values[at]))}.`
    }
    const { title, fraction, even } = data.panes[index]
    return `${title}: the brightest cell lies at the ${place}, with ${number(map.values[at])}. The image got ${percent(fraction)} of attention; an even spread would give it ${percent(even)}.`
  }

  function bars(shown, top, apart, apartTop) {
    const shared = of("scale", "shared"), other = of("scale", "apart")
    shared.hidden = !shown.some((map) => map.values)
    other.hidden = !apart
    shared.querySelector(".unit").textContent = isGradient() ? "Absolute gradient × activation in a cell" : `Share of attention in a cell${shown.filter((map) => map.values).length === 2 ? ", one scale for both" : ""}`
    shared.querySelector(".ramp").style.background = `linear-gradient(to right, ${data.sequential.join()})`
    ends(shared, ["0", number(top / 2), number(top)])
    shared.querySelector(".off").style.width = `${view.threshold}%`
    ;["above", "under"].forEach((where, index) => {
      const [mark, words] = [shared.querySelector(`.ramp .${where}`), shared.querySelector(`.tick.${where}`)]
      const map = shown[index]
      const even = map?.values && map.even !== null && top ? map.even / (map.rows * map.columns) : null
      mark.hidden = even === null || even > top
      words.replaceChildren()
      if (even === null) return
      const [at, label] = [100 * Math.min(even / top, 1), document.createElement("span")]
      label.textContent = `${data.panes[index].title}, if even: ${percent(even)}${even > top ? " (beyond the scale)" : ""}`
      mark.style.left = `${at}%`
      if (at > 50) label.style.right = `${100 - at}%`
      else label.style.left = `${at}%`
      words.append(label)
    })
    if (!apart) return
    other.querySelector(".unit").textContent = isGradient() ? "Difference in a cell" : "Difference in a cell, in points"
    other.querySelector(".ramp").style.background = `linear-gradient(to right, ${data.diverging.join(", transparent, ")})`
    const off = other.querySelector(".off").style
    Object.assign(off, { left: `${50 - view.threshold / 2}%`, width: `${view.threshold}%` })
    const size = (value) => isGradient() ? number(value) : percent(value).slice(0, -2)
    ends(other, [signed(-apartTop, size), "0", signed(apartTop, size)])
    ;["above", "under"].forEach((where) => other.querySelector(`.tick.${where}`).replaceChildren())
    const words = [document.createElement("span"), document.createElement("span")]
    words[0].textContent = `${data.panes[1].short} more`
    words[1].textContent = `${data.panes[0].short} more`
    words[0].style.left = words[1].style.right = "0"
    other.querySelector(".tick.above").append(...words)
  }
  const ends = (scale, texts) => scale.querySelectorAll(".ends span").forEach((end, index) => { end.textContent = texts[index] })

  function read() {
    const grid = drawn.find((map) => map?.values)
    if (!grid || view.cell === null) view.cell = null
    else view.cell = { row: clamp(view.cell.row, 0, grid.rows - 1), column: clamp(view.cell.column, 0, grid.columns - 1) }
    for (const mark of all(".cell")) {
      mark.hidden = view.cell === null
      if (view.cell) Object.assign(mark.style, { left: `${100 * view.cell.column / grid.columns}%`, top: `${100 * view.cell.row / grid.rows}%`, width: `${100 / grid.columns}%`, height: `${100 / grid.rows}%` })
    }
    if (!view.cell) {
      find(".reading").textContent = grid ? data.hint : ""
      return
    }
    const at = view.cell.row * grid.columns + view.cell.column
    const said = drawn.slice(0, n).map((map, index) => `${data.panes[index].title} ${map.values ? number(map.values[at]) : "no map"}`)
    if (drawn[2]) said.push(`difference ${difference(drawn[2].values[at])}`)
    find(".reading").textContent = `Row ${view.cell.row + 1} of ${grid.rows}, column ${view.cell.column + 1} of ${grid.columns}: ${said.join("; ")}.`
  }

  // Zoom and pan, one for all pictures.
  const room = () => frames[0].getBoundingClientRect()
  const screenPixels = () => view.scale * window.devicePixelRatio
  const fitScale = () => Math.min(room().width / data.width, room().height / data.height)
  const centre = () => ({ x: room().width / 2, y: room().height / 2 })

  function place() {
    const { width, height } = room()
    if (!data.url || !width) return
    if (view.fit) Object.assign(view, { scale: fitScale(), x: (width - data.width * fitScale()) / 2, y: (height - data.height * fitScale()) / 2 })
    view.x = middleCovered(view.x, data.width * view.scale, width)
    view.y = middleCovered(view.y, data.height * view.scale, height)
    for (const frame of frames) {
      const plane = frame.querySelector(".plane")
      plane.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`
      plane.style.setProperty("--pixel", 1 / view.scale)
      plane.classList.toggle("crisp", screenPixels() > 2)
    }
    find(".zoom").textContent = `${Math.round(100 * screenPixels())} %`
  }

  function scaleTo(scale, at, fit = false) {
    const next = clamp(scale, Math.min(fitScale(), 1) / 4, 40)
    view.x = at.x - (at.x - view.x) * next / view.scale
    view.y = at.y - (at.y - view.y) * next / view.scale
    Object.assign(view, { scale: next, fit })
    place()
  }
  const real = () => 1 / window.devicePixelRatio
  const actions = {
    fit: () => scaleTo(fitScale(), centre(), true),
    real: () => scaleTo(real(), centre()),
    in: () => scaleTo(view.scale * 1.25, centre()),
    out: () => scaleTo(view.scale / 1.25, centre()),
  }
  const pan = (dx, dy) => { Object.assign(view, { x: view.x + dx, y: view.y + dy, fit: false }); place() }

  function step(down, across) {
    const grid = drawn.find((map) => map?.values)
    if (!grid) return
    view.cell = view.cell ? { row: view.cell.row + down, column: view.cell.column + across } : { row: 0, column: 0 }
    read()
    const x = view.x + (view.cell.column + 0.5) / grid.columns * data.width * view.scale
    const y = view.y + (view.cell.row + 0.5) / grid.rows * data.height * view.scale
    if (x < 0 || y < 0 || x > room().width || y > room().height) pan(centre().x - x, centre().y - y)
  }
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
  const keys = { "+": actions.in, "=": actions.in, "-": actions.out, f: actions.fit, 0: actions.fit, 1: actions.real, Escape: () => { view.cell = null; read() } }

  root.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key !== "m") return
    event.preventDefault()
    event.stopPropagation()
    view.shown = !view.shown
    controls()
    paint()
  }
  for (const frame of frames) {
    const pointer = (event) => {
      const box = frame.getBoundingClientRect()
      return { x: event.clientX - box.left, y: event.clientY - box.top }
    }
    frame.onkeydown = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys || event.key in moves)) return
      event.preventDefault()
      event.stopPropagation()
      if (!(event.key in moves)) keys[event.key]()
      else if (event.shiftKey) pan(-40 * moves[event.key][1], -40 * moves[event.key][0])
      else step(...moves[event.key])
    }
    frame.onwheel = (event) => {
      event.preventDefault()
      scaleTo(view.scale * Math.exp(-clamp(event.deltaY, -200, 200) / 400), pointer(event))
    }
    frame.ondblclick = (event) => view.scale === real() ? actions.fit() : scaleTo(real(), pointer(event))
    frame.onpointerdown = (event) => {
      if (event.button !== 0) return
      frame.setPointerCapture(event.pointerId)
      frame.classList.add("dragging")
    }
    frame.onpointermove = (event) => {
      if (frame.hasPointerCapture(event.pointerId)) pan(event.movementX, event.movementY)
      const grid = drawn.find((map) => map?.values)
      if (!grid) return
      const at = pointer(event)
      const [x, y] = [(at.x - view.x) / view.scale / data.width, (at.y - view.y) / view.scale / data.height]
      view.cell = x >= 0 && x < 1 && y >= 0 && y < 1 ? { row: Math.floor(y * grid.rows), column: Math.floor(x * grid.columns) } : null
      read()
    }
    frame.onpointerleave = () => { if (frame.getRootNode().activeElement !== frame) { view.cell = null; read() } }
    frame.onlostpointercapture = () => frame.classList.remove("dragging")
  }
  for (const button of all("button[data-do]")) button.onclick = actions[button.dataset.do]

  // Controls show what the view holds, and set it.
  const [opacity, threshold, layer, shown] = [".opacity", ".threshold", ".layer", ".shown"].map(find)
  const radios = all("input[type=radio]")
  function controls() {
    const missing = data.panes.filter((pane) => !pane.gradient_map)
    if (missing.length === n) view.kind = "attention"
    Object.assign(opacity, { value: view.opacity })
    Object.assign(threshold, { value: view.threshold })
    find(".below").textContent = `${view.threshold} %`
    shown.checked = view.shown
    for (const radio of radios) Object.assign(radio, { checked: radio.value === view.kind, disabled: radio.value === "gradient" && missing.length === n })
    const whole = isGradient() ? "The gradient is of the whole answer, through all layers." : ""
    find(".why").textContent = whole || (missing.length === n ? `No gradient: ${missing[0].why_no_gradient || missing[0].why_no_map}` : "")
    Object.assign(layer, { max: Math.max(...data.panes.map((pane) => pane.layer_shares.length)), value: view.layer, disabled: isGradient() })
    find(".layer-name").textContent = view.layer ? `${view.layer} of ${layer.max}` : "all layers"
    layer.setAttribute("aria-valuetext", find(".layer-name").textContent)
    for (const button of all(".pieces button")) {
      button.disabled = isGradient()
      button.setAttribute("aria-pressed", view.pieces[button.dataset.pane] === Number(button.dataset.piece))
    }
  }
  const set = (change) => { Object.assign(view, change); controls(); paint() }
  opacity.oninput = () => set({ opacity: Number(opacity.value) })
  threshold.oninput = () => set({ threshold: Number(threshold.value) })
  shown.onchange = () => set({ shown: shown.checked })
  layer.oninput = () => set({ layer: Number(layer.value), pieces: data.panes.map(() => null) })
  for (const radio of radios) radio.onchange = () => set({ kind: radio.value, pieces: data.panes.map(() => null), layer: 0 })

  function strip(index) {
    const { pieces, title, token_shares: shares, token_even: even } = data.panes[index]
    const box = of("head", SIDES[index]).querySelector(".pieces")
    box.setAttribute("aria-label", `Pieces of what ${title} said: choose one to see its map, again for the whole answer`)
    const buttons = pieces.map(({ text, tokens }, place) => {
      const button = document.createElement("button")
      const share = (all) => percent(mean(tokens.map((token) => all[token])))
      Object.assign(button, { type: "button", textContent: pieceText(text), tabIndex: place ? -1 : 0, title: `${share(shares)} of its attention was on the image; ${share(even)} if even` })
      if (text === "\n") button.setAttribute("aria-label", "line break")
      if (tokens.length > 1) button.dataset.count = `${tokens.length} tokens`
      Object.assign(button.dataset, { pane: index, piece: place })
      button.onclick = () => set({ layer: 0, pieces: view.pieces.map((one, other) => other !== index ? one : one === place ? null : place) })
      button.onfocus = () => { for (const one of buttons) one.tabIndex = one === button ? 0 : -1 }
      button.onkeydown = (event) => {
        const next = { ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1, Home: 0, End: pieces.length - 1 }[event.key]
        if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        event.stopPropagation()
        buttons[clamp(next, 0, pieces.length - 1)].focus()
      }
      return button
    })
    const focused = box.getRootNode().activeElement?.dataset
    box.replaceChildren(...buttons)
    if (focused?.piece !== undefined && Number(focused.pane) === index) buttons[focused.piece]?.focus()
  }

  root.classList.toggle("single", n === 1)
  root.classList.toggle("without", !data.url)
  find(".absent").textContent = data.url ? "" : data.absent
  for (const side of SIDES) for (const part of ["head", "frame", "facts"]) of(part, side).hidden = !sides.includes(side)
  of("scale", "apart").hidden = n === 1
  // A long, thin image leaves room to zoom into it.
  const ratio = clamp(data.width / data.height, 0.6, 2.5)
  of("scale", "shared").style.maxWidth = n === 1 && data.url ? `${data.height_px * ratio}px` : ""
  const titles = [...data.panes.map((pane) => pane.title), "Difference, left − right"]
  sides.forEach((side, index) => {
    of("head", side).querySelector("h4").textContent = titles[side === "apart" ? 2 : index]
    if (side !== "apart") of("head", side).querySelector(".said").textContent = data.panes[index].said
    of("facts", side).replaceChildren(...data.facts[index].flatMap(([term, value]) => {
      const [name, held] = [document.createElement("dt"), document.createElement("dd")]
      name.textContent = term
      held.textContent = value
      return [name, held]
    }))
    const frame = frames[index]
    frame.setAttribute("aria-label", `${titles[side === "apart" ? 2 : index]}. ${data.label}. ${data.hint}`)
    if (!data.url) return
    Object.assign(frame.style, { aspectRatio: ratio, maxWidth: `${data.height_px * ratio}px` })
    Object.assign(frame.querySelector(".plane").style, { width: `${data.width}px`, height: `${data.height}px` })
    const image = frame.querySelector("img")
    const fail = (text) => {
      root.classList.toggle("without", Boolean(text))
      find(".absent").textContent = text
      place()
    }
    image.onload = () => fail(image.naturalWidth === data.width && image.naturalHeight === data.height ? "" :
      `The file has ${image.naturalWidth} × ${image.naturalHeight} pixels, the store expects ${data.width} × ${data.height}. No map is drawn, because it would be in the wrong place.`)
    image.onerror = () => fail("This image could not be loaded: its file may have been moved or damaged. Import its images again on the Data page.")
    if (image.getAttribute("src") !== data.url) image.src = data.url
  })
  find(".sentence").textContent = data.sentence
  const grids = document.createElement("p")
  grids.className = "grids"
  find(".notes").replaceChildren(grids, ...data.notes.map((text) => Object.assign(document.createElement("p"), { textContent: text })))
  data.panes.forEach((_, index) => strip(index))
  controls()
  paint()
  place()

  const resized = new ResizeObserver(place)
  resized.observe(frames[0])
  return () => resized.disconnect()
}
