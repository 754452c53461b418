package app

import app.text.Printer
import app.text.ellipsize
import app.text.joined
import app.text.print as printTo

typealias Visitor = (Shape) -> kotlin.Unit

interface Layer {
    fun draw(shape: Shape)
    fun clear() {}
}

open class MemoryLayer : Layer {
    protected val shapes = mutableListOf<Shape>()

    override fun draw(shape: Shape) {
        shapes += shape.scaled(1.0)
    }

    override fun clear() = shapes.clear()

    fun visit(visitor: Visitor) = shapes.forEach(visitor)

    fun largest(): Shape? = shapes.maxByOrNull { it.area }
}

class Canvas private constructor(private val layer: MemoryLayer) : Layer by layer {
    private val named = HashMap<String, Rect>()
    private lateinit var printer: Printer

    fun add(name: String, shape: Shape): Canvas {
        when (shape) {
            is Rect -> named[name] = shape.scaled(2.0)
            is Circle -> layer.draw(shape.scaled(3.0))
        }
        printer = Printer()
        printer.line(name)
        return this
    }

    fun find(name: String): Rect = named[name] ?: named.getOrPut(name) { Rect.UNIT }

    fun describe(): String {
        val first = layer.largest()?.scaled(0.5)
        with(printer) {
            line("a").nested { line("b") }
        }
        named.values.forEach { rect -> rect.plus(rect) }
        named.map { (key, rect) -> key to rect.scaled(1.0) }
        layer.visit { draw(it) }
        return listOf(first).joined { format(it) }
    }

    private fun format(shape: Shape?) = shape?.area?.squared().toString().ellipsize(4)

    class Builder {
        var layer: MemoryLayer? = null

        fun build(): Canvas = Canvas(layer ?: MemoryLayer())
    }

    companion object {
        inline operator fun invoke(configure: Builder.() -> kotlin.Unit): Canvas = Builder().apply(configure).build()
    }
}

object Registry {
    private val canvases = mutableMapOf<String, Canvas>()

    fun canvas(name: String): Canvas = canvases.getOrPut(name) { create() }

    private fun create() = Canvas { layer = MemoryLayer() }
}

fun Canvas.addAll(vararg shapes: Shape) = apply {
    for (shape in shapes) add("s", shape)
}

fun main() {
    val canvas = Registry.canvas("main").addAll(Circle(1.0), Rect(2.0))
    canvas.add("r", Rect.parse("1x2") ?: return).describe()
    canvas.find("r").run {
        scaled(2.0) + this
    }
    val shape = Unit.INCH.convert(Circle(2.0))
    if (shape is Rect && shape.width > 1) shape.plus(Rect.UNIT)
    (shape as? Circle)?.scaled(1.0)?.area
    printTo { line("done") }
    Unit.valueOf("CM").label()
    canvas.clear()
}
