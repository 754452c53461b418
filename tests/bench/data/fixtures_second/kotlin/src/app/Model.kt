package app

import app.text.ellipsize

sealed interface Shape {
    val area: Double

    fun scaled(factor: Double): Shape
}

data class Circle(val radius: Double) : Shape {
    init {
        requirePositive(radius)
    }

    override val area: Double get() = radius.squared() * 3.14

    override fun scaled(factor: Double) = copy(radius = radius * factor)
}

data class Rect(val width: Double, val height: Double) : Shape {
    constructor(side: Double) : this(side, side)

    override val area by lazy { compute() }

    private fun compute() = width * height

    override fun scaled(factor: Double): Rect = Rect(width * factor, height * factor)

    operator fun plus(other: Rect) = Rect(width + other.width, height)

    companion object Factory {
        val UNIT = Rect(1.0)

        @JvmStatic
        fun parse(text: String): Rect? = text.split("x").takeIf { it.size == 2 }?.let { (w, h) -> Rect(w.toDouble(), h.toDouble()) }
    }
}

enum class Unit(private val factor: Double) {
    CM(1.0) {
        override fun label() = "cm"
    },
    INCH(2.54) {
        override fun label() = "in".ellipsize(2)
    };

    abstract fun label(): String

    fun convert(shape: Shape) = shape.scaled(factor)
}

fun Double.squared() = this * this

internal fun requirePositive(value: Double) = require(value > 0) { message(value) }

private fun message(value: Double) = "not positive: $value"
