# Soluciones de los ejercicios, y respuestas que parecen buenas pero no lo son.
# Cada celda usa los nombres que define el cuaderno.

# %% 1 solution
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] > 0).mean())


# Nunca es mayor que el MRR, puesto que cada acierto en la primera posición aporta 1 a
# los dos. Un sí o un no por consulta es una medida poco fina: hacen falta más
# consultas para distinguir dos búsquedas.


# %% 1 wrong
# Eso es el *hit rate*: un acierto en la segunda posición también cuenta.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).any(axis=1).mean())


# %% 1 wrong
# Vale para sí y no, pero un grado 2 cuenta el doble.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean())


# %% 1 wrong
# Todos los resultados, y no solo los primeros.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).mean())


# %% 1 wrong
# La primera consulta, y no el primer resultado de cada una.
def success_at_1(relevance):
    return float((np.asarray(relevance)[0] > 0).mean())


# %% 2 solution
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "mejor" if low > 0 else "peor" if high < 0 else "no se puede decir"


# Con la respuesta × 3 la media es más alta, y el intervalo contiene el 0. Eso no prueba
# que sean iguales. Si nada más habla en favor de la configuración nueva, quédate con la
# de antes.


# %% 2 wrong
# Una media más alta no es mejor mientras el intervalo contenga el 0.
def verdict(new, old, queries):
    return "mejor" if (new - old).mean() > 0 else "peor"


# %% 2 wrong
# Que no haya diferencia significativa no significa que sean iguales.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "mejor" if low > 0 else "peor" if high < 0 else "iguales"


# %% 2 wrong
# Consulta a consulta: las de una misma necesidad no son independientes, así que se
# fía demasiado.
def verdict(new, old, queries):
    low, high = intervals.confidence_interval(new - old, range(len(queries)))
    return "mejor" if low > 0 else "peor" if high < 0 else "no se puede decir"


# %% 3 solution
may_say = [True, False, False, True]

# La segunda habla de cualquier boost, y solo se ha medido uno; además habla de la
# gente, y las consultas las escribió un modelo. La tercera toma dos cifras cercanas
# por la misma: nadie ha calculado el intervalo de su diferencia, y que no haya
# diferencia significativa tampoco significaría que son iguales.


# %% 3 wrong
# Un boost malo no hace malos a todos.
may_say = [True, True, False, True]


# %% 3 wrong
# Dos cifras cercanas no son la misma.
may_say = [True, False, True, True]
