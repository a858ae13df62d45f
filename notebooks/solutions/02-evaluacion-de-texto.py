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


# %% 2 solution
def halves(questions):
    documents = np.random.default_rng(1).permutation(questions["document"].unique())
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# Ningún documento debe estar en los dos lados. Cada curso sí, con más o menos la
# misma proporción. Una segunda ejecución debe dar las mismas mitades. Aquí las da
# mientras los documentos sean los mismos: con uno más, la semilla los baraja todos de
# otra manera. `corpus.split_by_document` usa un *hash* del id del documento, así que
# uno nuevo no mueve a ningún otro. `GroupShuffleSplit` de scikit-learn sortea grupos
# con una semilla, como aquí. Si una persona hace varias consultas, reparte por
# persona.


# %% 2 wrong
# Se sortean preguntas, y unas tres de cada cuatro tienen una hermana al otro lado.
def halves(questions):
    shuffled = questions.sample(frac=1, random_state=1)
    return shuffled[::2], shuffled[1::2]


# %% 2 wrong
# Documentos enteros, pero la primera mitad del archivo, sin sorteo.
def halves(questions):
    documents = questions["document"].unique()
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# %% 3 solution
n_queries = (2.8 * gains[DECIDES].std() / 0.01) ** 2

# Unas 880: casi nueve veces las 99 que hay. Antes de prometer que hallarás una mejora
# de una centésima, cuenta tus consultas. `intervals.groups_needed` cuenta necesidades
# en vez de consultas: salen 805.

# %% 3 wrong
# Se despejó √n, y falta el cuadrado.
n_queries = 2.8 * gains[DECIDES].std() / 0.01

# %% 3 wrong
# Con 1.96 el intervalo es así de estrecho, y aun así la diferencia se escapa en uno
# de cada dos experimentos.
n_queries = (1.96 * gains[DECIDES].std() / 0.01) ** 2


# %% 4 solution
def bm25(k1, b):
    settings = {"similarity": {"default": {"type": "BM25", "k1": k1, "b": b}}}
    name = elastic.index_documents(es, "course-bm25", documents, MAPPING, settings)
    search = elastic.elasticsearch_search(
        es, name, elastic.match_query(FIELDS, "combined_fields")
    )
    return utils.evaluate(development["generated"], search)["mrr"]


better_pair = 1.2, 0.9

# La comprobación imprime las dos cifras. Con el analizador `standard`, aquí ayuda
# subir algo `b`: que los textos largos se penalicen más. La ganancia es pequeña: los
# valores por defecto ya son casi buenos. Si es más que ruido te lo dirá un intervalo.


# %% 4 wrong
# Sin sus ajustes, cualquier par da la cifra de los valores por defecto.
def bm25(k1, b):
    name = elastic.index_documents(es, "course-bm25", documents, MAPPING)
    search = elastic.elasticsearch_search(
        es, name, elastic.match_query(FIELDS, "combined_fields")
    )
    return utils.evaluate(development["generated"], search)["mrr"]


better_pair = 1.2, 0.9


# %% 4 wrong
# Sin clase, `match_query` es `best_fields`, otra búsqueda.
def bm25(k1, b):
    settings = {"similarity": {"default": {"type": "BM25", "k1": k1, "b": b}}}
    name = elastic.index_documents(es, "course-bm25", documents, MAPPING, settings)
    search = elastic.elasticsearch_search(es, name, elastic.match_query(FIELDS))
    return utils.evaluate(development["generated"], search)["mrr"]


better_pair = 1.2, 0.9
