// Zoom, pan and overlays without a rerun. Streamlit calls the default function again at each
// rerun with the same element: handlers are assigned, and what the person set is kept.

const SVG = "http://www.w3.org/2000/svg"
const views = new WeakMap()

const clamp = (value, low, high) => Math.min(Math.max(value, low), high)
const middleCovered = (offset, drawn, room) => clamp(offset, room / 2 - drawn, room / 2)

function mark(kind, color, attributes, text) {
  const element = document.createElementNS(SVG, kind)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.setAttribute(kind === "text" ? "fill" : "stroke", color)
  if (text) element.textContent = text
  return element
}

function arrowPath({ x1, y1, x2, y2 }, pixel) {
  const angle = Math.atan2(y2 - y1, x2 - x1)
  const barb = (turn) => `${x2 - 11 * pixel * Math.cos(angle + turn)} ${y2 - 11 * pixel * Math.sin(angle + turn)}`
  return `M${x1} ${y1} L${x2} ${y2} M${barb(0.45)} L${x2} ${y2} L${barb(-0.45)}`
}

export default function ({ data, parentElement, setStateValue }) {
  const find = (selector) => parentElement.querySelector(selector)
  const [frame, plane, image, map, svg] = [".frame", ".plane", ".image", ".map", "svg"].map(find)
  const [message, zoom, slider, marks] = [".message", ".zoom", ".opacity input", ".marks input"].map(find)
  let view = views.get(parentElement)
  if (view?.url !== data.url) view = { url: data.url, scale: 1, x: 0, y: 0, fit: true, switched: new Map(), drawing: false }
  views.set(parentElement, view)

  const screenPixels = () => view.scale * window.devicePixelRatio
  const fitScale = () => Math.min(frame.clientWidth / data.width, frame.clientHeight / data.height)
  const centre = () => ({ x: frame.clientWidth / 2, y: frame.clientHeight / 2 })

  function draw() {
    const [width, height] = [frame.clientWidth, frame.clientHeight]
    if (view.fit) {
      view.scale = fitScale()
      view.x = (width - data.width * view.scale) / 2
      view.y = (height - data.height * view.scale) / 2
    }
    view.x = middleCovered(view.x, data.width * view.scale, width)
    view.y = middleCovered(view.y, data.height * view.scale, height)
    plane.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`
    plane.style.setProperty("--pixel", 1 / view.scale)
    plane.classList.toggle("crisp", screenPixels() > 2)
    for (const [index, path] of svg.querySelectorAll("path").entries()) {
      path.setAttribute("d", arrowPath(data.arrows[index], 1 / view.scale))
    }
    zoom.textContent = `${Math.round(100 * screenPixels())} %`
  }

  function scaleTo(scale, at, fit = false) {
    const next = clamp(scale, Math.min(fitScale(), 1) / 4, 40)
    view.x = at.x - (at.x - view.x) * next / view.scale
    view.y = at.y - (at.y - view.y) * next / view.scale
    Object.assign(view, { scale: next, fit })
    draw()
  }

  const real = () => 1 / window.devicePixelRatio
  const actions = {
    fit: () => scaleTo(fitScale(), centre(), true),
    real: () => scaleTo(real(), centre()),
    in: () => scaleTo(view.scale * 1.25, centre()),
    out: () => scaleTo(view.scale / 1.25, centre()),
  }
  const pan = (dx, dy) => { Object.assign(view, { x: view.x + dx, y: view.y + dy, fit: false }); draw() }
  const keys = {
    "+": actions.in, "=": actions.in, "-": actions.out, f: actions.fit, d: () => takePen(!view.drawing), 0: actions.fit, 1: actions.real,
    ArrowLeft: () => pan(40, 0), ArrowRight: () => pan(-40, 0), ArrowUp: () => pan(0, 40), ArrowDown: () => pan(0, -40),
  }
  const pointer = (event) => {
    const box = frame.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }

  for (const button of parentElement.querySelectorAll("button[data-do]")) button.onclick = actions[button.dataset.do]

  // A box is drawn from corner to corner, in whole pixels of the image, and told when the button is let go.
  const pen = find(".draw")
  let corner = null, sketch = null
  function takePen(on) {
    view.drawing = on && data.can_draw
    pen.setAttribute("aria-pressed", view.drawing)
    frame.classList.toggle("drawing", view.drawing)
  }
  pen.hidden = !data.can_draw
  pen.onclick = () => takePen(!view.drawing)
  takePen(view.drawing)
  const pixelAt = (event) => {
    const at = pointer(event)
    return {
      x: clamp(Math.round((at.x - view.x) / view.scale), 0, data.width),
      y: clamp(Math.round((at.y - view.y) / view.scale), 0, data.height),
    }
  }
  const between = (a, b) => ({
    x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y),
  })
  frame.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return
    event.preventDefault()
    event.stopPropagation()
    keys[event.key]()
  }
  frame.onwheel = (event) => {
    event.preventDefault()
    scaleTo(view.scale * Math.exp(-clamp(event.deltaY, -200, 200) / 400), pointer(event))
  }
  frame.ondblclick = (event) => {
    if (view.scale === real()) actions.fit()
    else scaleTo(real(), pointer(event))
  }
  frame.onpointerdown = (event) => {
    if (event.button !== 0) return
    frame.setPointerCapture(event.pointerId)
    if (view.drawing) {
      corner = pixelAt(event)
      sketch = mark("rect", "#56B4E9", between(corner, corner))
      svg.append(sketch)
    } else frame.classList.add("dragging")
  }
  frame.onpointermove = (event) => {
    if (!frame.hasPointerCapture(event.pointerId)) return
    if (!corner) pan(event.movementX, event.movementY)
    else for (const [name, value] of Object.entries(between(corner, pixelAt(event)))) sketch.setAttribute(name, value)
  }
  frame.onpointerup = (event) => {
    if (!corner) return
    const box = between(corner, pixelAt(event))
    if (box.width && box.height) {
      setStateValue("drawn", box)
      takePen(false)
    }
  }
  frame.onlostpointercapture = () => {
    frame.classList.remove("dragging")
    sketch?.remove()
    corner = sketch = null
  }

  function say(text) {
    message.textContent = text
    message.hidden = !text
    plane.hidden = Boolean(text)
    find(".viewer").classList.toggle("failed", Boolean(text))
  }
  image.onload = () => {
    const same = image.naturalWidth === data.width && image.naturalHeight === data.height
    say(same ? "" : `The file has ${image.naturalWidth} × ${image.naturalHeight} pixels, the store expects ` +
      `${data.width} × ${data.height}. It is not drawn, because marks would be in the wrong place.`)
  }
  image.onerror = () => say("This image could not be loaded: its file may have been moved or damaged. Import its images again on the Data page.")
  if (image.getAttribute("src") !== data.url) image.src = data.url

  frame.style.height = `${data.height_px}px`
  frame.setAttribute("aria-label", `${data.label}. Plus and minus zoom, F fits, 1 shows true pixels, arrow keys move.`)
  plane.style.width = `${data.width}px`
  plane.style.height = `${data.height}px`
  find(".size").textContent = `${data.width} × ${data.height}`
  find(".marks").hidden = !data.boxes.length && !data.arrows.length
  find(".opacity").hidden = map.hidden = !data.map
  if (data.map) map.src = data.map

  const shown = (layer) => view.switched.get(layer.label) ?? layer.is_shown
  const drawings = data.layers.map((layer) => {
    const drawing = document.createElement("img")
    Object.assign(drawing, { src: layer.url, alt: "", draggable: false, hidden: !shown(layer) })
    return drawing
  })
  find(".drawings").replaceChildren(...drawings)
  find(".layers").hidden = !data.layers.length
  const groups = Map.groupBy([...data.layers.entries()], ([, layer]) => layer.group)
  find(".layers").replaceChildren(...[...groups].map(([group, layers]) => {
    const [row, heading] = [document.createElement("div"), document.createElement("span")]
    heading.textContent = group
    row.append(heading, ...layers.map(([index, layer]) => switchOf(layer, drawings[index])))
    return row
  }))

  function switchOf(layer, drawing) {
    const [label, box] = [document.createElement("label"), document.createElement("input")]
    Object.assign(box, { type: "checkbox", checked: shown(layer) })
    box.onchange = () => {
      view.switched.set(layer.label, box.checked)
      drawing.hidden = !box.checked
    }
    label.append(box, layer.label)
    return label
  }

  svg.setAttribute("viewBox", `0 0 ${data.width} ${data.height}`)
  svg.replaceChildren(
    ...data.boxes.map(({ x, y, width, height, color }) => mark("rect", color, { x, y, width, height })),
    ...data.arrows.map(({ color }) => mark("path", color, {})),
    ...data.boxes.filter((box) => box.label).map((box) => mark("text", box.color, { x: box.x, y: box.y, dy: "-0.4em" }, box.label)),
    ...data.arrows.filter((arrow) => arrow.label).map((arrow) => mark("text", arrow.color, { x: arrow.x1, y: arrow.y1, dy: "-0.4em" }, arrow.label)),
  )
  marks.onchange = () => { svg.style.visibility = marks.checked ? "visible" : "hidden" }
  slider.oninput = () => { map.style.opacity = slider.value / 100 }
  marks.onchange()
  slider.oninput()
  draw()

  const resized = new ResizeObserver(draw)
  resized.observe(frame)
  return () => resized.disconnect()
}
